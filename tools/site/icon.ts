/**
 * The icon of the site. A browser asks for one on each page, and complains if there is none.
 *
 * @module
 */

/** The icon as SVG. */
export const ICON: string =
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><g fill="none" stroke="#3451b2" stroke-width="2">` +
  `<path d="M14 8A6 6 0 1 1 11 2.8"/><path d="M14 1v4h-4"/></g><circle cx="8" cy="8" r="2" fill="#3451b2"/></svg>`;
