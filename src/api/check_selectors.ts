import { FieldSelector } from "./field_selector.ts";
import type { Selection } from "./options.ts";
import { LabelSelector } from "./selector.ts";

/** Parses the selectors of a selection. @throws {SyntaxError} when one of them is none. */
export function checkSelectors({ labelSelector, fieldSelector }: Selection): void {
  if (labelSelector) LabelSelector.parse(labelSelector);
  if (fieldSelector) FieldSelector.parse(fieldSelector);
}
