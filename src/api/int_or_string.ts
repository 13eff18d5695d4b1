/** A number, or a text that names or describes one: `80` or `"http"`, `2` or `"25%"`. */
export type IntOrString = number | string;
