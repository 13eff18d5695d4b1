import type { MutableJson } from "../wire/json.ts";

/** Fills in members of an object of one type that follow from its other members. */
type Compute = (object: MutableJson) => void;

/** What the server's defaulting computes, by the name of the type; constant defaults are in the schemas. */
export const COMPUTED: Readonly<Record<string, Compute>> = {};
