/** An amount with a unit, such as `"500m"` or `"1Gi"`: a decimal number and a decimal or binary suffix, as text. */
export type Quantity = string;
