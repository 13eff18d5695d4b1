/**
 * The errors that a Kubernetes API server sends, with the texts from kube-apiserver.
 *
 * {@linkcode refusal} and {@linkcode knownRefusal} create an error to throw, and {@linkcode statusJson} its body. The
 * relay and the fake server use them. This file does not read errors: for clients, `api/status.ts` does.
 *
 * @module
 */
import { defined } from "../api/json.ts";
import { resourceName } from "../api/resource.ts";
import { reasonOf, type StatusCause, type StatusDetails, StatusError } from "../api/status.ts";

/** The parts of an error response in addition to code and message. */
interface RefusalParts {
  /** The machine-readable reason, or `""` if kube-apiserver gives none. By default, it follows from the code. */
  readonly reason?: string;
  /** The Status's details. */
  readonly details?: StatusDetails;
  /** A replacement continue token. */
  readonly continue?: string;
}

/** Creates the error for a failed request, which you throw. {@linkcode statusJson} serializes it. */
export function refusal(code: number, message: string, parts: RefusalParts = {}): StatusError {
  const { reason = reasonOf(code), details } = parts;
  const retryAfterSeconds = details?.retryAfterSeconds;
  return new StatusError(
    message,
    defined({ code, reason, message, retryAfterSeconds, details, continue: parts.continue }),
  );
}

/** An error that kube-apiserver answers with plain text, without a Status. */
export class PlainRefusal extends Error {
  /** `"PlainRefusal"`. */
  override readonly name = "PlainRefusal";
  /** HTTP status code. */
  readonly code: number;
  /** Seconds for the `Retry-After` header. */
  readonly retryAfterSeconds: number | undefined;

  /** `text` becomes the body, followed by a line feed. */
  constructor(code: number, text: string, retryAfterSeconds?: number) {
    super(text);
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  /** 404: the group does not exist. */
  static noPath(): PlainRefusal {
    return new PlainRefusal(404, "404 page not found");
  }
}

/** A Status as JSON. */
type StatusJson = {
  readonly kind: "Status";
  readonly apiVersion: "v1";
  readonly metadata: { readonly continue?: string };
  readonly status: "Failure";
  readonly message: string;
  readonly reason?: string;
  readonly details?:
    & {
      readonly [Name in "name" | "group" | "kind" | "uid"]?: string;
    }
    & {
      readonly causes?: readonly { readonly [Name in keyof StatusCause]: string }[];
      readonly retryAfterSeconds?: number;
    };
  readonly code: number;
};

/** Returns a Status, with members in the server's order. */
export function statusJson(status: StatusError["status"]): StatusJson {
  const { code, reason, message, details } = status;
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: status.continue === undefined ? {} : { continue: status.continue },
    status: "Failure",
    message,
    ...(reason === "" ? {} : { reason }),
    ...(details === undefined ? {} : {
      details: {
        ...(details.name ? { name: details.name } : {}),
        ...(details.group ? { group: details.group } : {}),
        ...(details.kind ? { kind: details.kind } : {}),
        ...(details.uid ? { uid: details.uid } : {}),
        ...(details.causes ? { causes: details.causes.map((cause) => ({ ...cause })) } : {}),
        ...(details.retryAfterSeconds ? { retryAfterSeconds: details.retryAfterSeconds } : {}),
      },
    }),
    code,
  };
}

type Named = { readonly group: string; readonly plural: string };

/** Returns Status details that name a resource or an object. */
function detailsOf(resource: Named, name?: string): StatusDetails {
  return defined({ name, group: resource.group || undefined, kind: resource.plural });
}

/** What the known refusals are about, by their name. */
interface Subjects {
  /** The request is not allowed. The name is empty for a collection, and the plural is empty for another path. */
  readonly forbidden: [resource: Named, name: string, why: string, causes?: Causes];
  /** The object does not exist. */
  readonly notFound: [resource: Named, name: string];
  /** The object exists already. */
  readonly alreadyExists: [resource: Named, name: string];
  /** The object is not as the request says. */
  readonly conflict: [resource: Named, name: string, why: string];
  /** The group and version have no such resource. */
  readonly noResource: [];
  /** The path does not support the method. */
  readonly noMethod: [];
  /** The resource does not support the verb. */
  readonly noVerb: [resource: Named, verb: string];
  /** The version is compacted; a list may go on with another token. */
  readonly expired: [message: string, token?: string];
  /** An object or its options are invalid. `kind` is a kind, or a plural if the server uses the plural. */
  readonly invalid: [
    subject: { readonly group: string; readonly kind: string; readonly name: string },
    causes: readonly Required<StatusCause>[],
  ];
  /** The version is in the future. */
  readonly tooLarge: [asked: number | string, current: number | string];
}

/** The known refusals: the code, and what message and details are made of. */
const REFUSALS: { readonly [Name in keyof Subjects]: (...subject: Subjects[Name]) => Parameters<typeof refusal> } = {
  forbidden: (resource, name, why, causes) => [
    403,
    (resource.plural === "" ? "" : `${resourceName(resource)}${name && ` ${JSON.stringify(name)}`} is `) +
    `forbidden: ${why}`,
    { details: defined({ ...detailsOf(resource, name), causes }) },
  ],
  notFound: (of, name) => [404, `${resourceName(of)} "${name}" not found`, { details: detailsOf(of, name) }],
  alreadyExists: (resource, name) => [409, `${resourceName(resource)} "${name}" already exists`, {
    reason: "AlreadyExists",
    details: detailsOf(resource, name),
  }],
  conflict: (of, name, why) => [409, `Operation cannot be fulfilled on ${resourceName(of)} "${name}": ${why}`, {
    details: detailsOf(of, name),
  }],
  noResource: () => [404, "the server could not find the requested resource", { details: {} }],
  noMethod: () => [405, "the server does not allow this method on the requested resource", { details: {} }],
  noVerb: (of, verb) => [405, `${verb} is not supported on resources of kind "${resourceName(of)}"`, {
    details: detailsOf(of),
  }],
  expired: (message, token) => [410, message, { reason: "Expired", continue: token }],
  invalid: ({ group, kind, name }, given) => {
    // The server says nothing twice.
    const byText = new Map(given.map((cause) => [`${cause.field}: ${cause.message}`, cause]));
    const [texts, causes] = [[...byText.keys()], [...byText.values()]];
    const why = texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`;
    const details = { ...detailsOf({ group, plural: kind }, name || undefined), causes };
    return [422, `${resourceName({ group, plural: kind })} "${name}" is invalid: ${why}`, { details }];
  },
  tooLarge: (asked, current) => [504, `Timeout: Too large resource version: ${asked}, current: ${current}`, {
    details: {
      causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
      retryAfterSeconds: 1,
    },
  }],
};

/** Creates the error of a known refusal, by its name and what it is about. */
export function knownRefusal<Name extends keyof Subjects>(name: Name, ...subject: Subjects[Name]): StatusError {
  return refusal(...REFUSALS[name](...subject));
}

/** An object's faults, with one cause for each. */
export type Causes = Required<StatusCause>[];

function causeOf(reason: string, field: string, what: string, why: string): Required<StatusCause> {
  return { reason: `FieldValue${reason}`, message: why === "" ? what : `${what}: ${why}`, field };
}

/** Creates the causes of refused objects: what is wrong with a field, in kube-apiserver's words. */
export const fieldCause = {
  /** The field must not be set. */
  forbidden: (field: string, why: string): Required<StatusCause> => causeOf("Forbidden", field, "Forbidden", why),
  /** The field's value is invalid. */
  invalid: (field: string, value: string, why: string): Required<StatusCause> =>
    causeOf("Invalid", field, `Invalid value: ${value}`, why),
  /** The value has too many bytes. */
  tooLong: (field: string, most: unknown): Required<StatusCause> =>
    causeOf("TooLong", field, "Too long", `may not be more than ${most} byte${most === 1 ? "" : "s"}`),
  /** The field is required. */
  required: (field: string, why = ""): Required<StatusCause> => causeOf("Required", field, "Required value", why),
  /** The value names something that does not exist. */
  notFound: (field: string, value: unknown): Required<StatusCause> =>
    causeOf("NotFound", field, "Not found", JSON.stringify(value)),
  /** The value is in the list already. */
  duplicate: (field: string, value: unknown): Required<StatusCause> =>
    causeOf("Duplicate", field, "Duplicate value", JSON.stringify(value)),
  /** The field's value is not supported. */
  unsupported: (field: string, value: unknown, supported: readonly string[]): Required<StatusCause> => {
    const values = supported.map((text) => JSON.stringify(text)).join(", ");
    return causeOf("NotSupported", field, "Unsupported value", `${JSON.stringify(value)}: supported values: ${values}`);
  },
};
