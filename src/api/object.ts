/** Metadata every stored object carries. */
export interface ObjectMeta {
  /** Unique within a namespace, for one kind. */
  readonly name: string;
  /** Absent on cluster-scoped objects. */
  readonly namespace?: string;
  /** Unique for all time: an object created again under the same name has another. */
  readonly uid: string;
  /** The version of this state, a string of digits that grows with each change. */
  readonly resourceVersion: string;
  /** Grows when the desired state changes. */
  readonly generation?: number;
  /** What selectors match. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Data for tools and people. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** When it was created, RFC 3339. */
  readonly creationTimestamp?: string;
  /** When its deletion was asked for, RFC 3339. */
  readonly deletionTimestamp?: string;
  /** How long a deletion may take, in seconds. */
  readonly deletionGracePeriodSeconds?: number;
  /** Who must act before a deletion is carried out. */
  readonly finalizers?: readonly string[];
  /** Whom it belongs to. */
  readonly ownerReferences?: readonly OwnerReference[];
  /** Who set which field. Informers drop it unless told to keep it. */
  readonly managedFields?: readonly unknown[];
}

/** Who owns an object. */
export interface OwnerReference {
  /** Group and version of the owner. */
  readonly apiVersion: string;
  /** Kind of the owner. */
  readonly kind: string;
  /** Name of the owner, in the same namespace or cluster-scoped. */
  readonly name: string;
  /** The owner itself, not another one of its name. */
  readonly uid: string;
  /** Whether this owner manages the object; at most one does. */
  readonly controller?: boolean;
  /** Whether the owner waits for this object when it is deleted in the foreground. */
  readonly blockOwnerDeletion?: boolean;
}

/** Anything with `metadata`. */
export interface KubernetesObject {
  /** Group and version, `"apps/v1"`, or `"v1"` for the core group. */
  readonly apiVersion?: string;
  /** The kind, `"Pod"`. */
  readonly kind?: string;
  /** Who it is, and which version of it this is. */
  readonly metadata: ObjectMeta;
}

/** What a caller sends: metadata may lack what the server fills in. */
export type Draft<T extends KubernetesObject> =
  & Omit<T, "metadata" | "status">
  & { readonly metadata: Partial<ObjectMeta> & { readonly generateName?: string }; readonly status?: unknown };
