/**
 * The addresses of the repository and of the site, which the line `addresses` of `deno.json` has, and the links that
 * are made of them.
 *
 * {@linkcode readAddresses} is the entry point. Both addresses are empty until there is a place for them. Until then,
 * {@linkcode addressProblem} says why nothing can be published.
 *
 * @module
 */

/** The line `addresses` of `deno.json`. An address is empty while there is none. */
export interface Addresses {
  /** The repository, such as `https://github.com/OWNER/NAME`, without a slash at the end. */
  readonly repository: string;
  /** The site, such as `https://OWNER.github.io/NAME`, without a slash at the end. */
  readonly site: string;
}

/** Reads the addresses from the text of `deno.json`. @throws {TypeError} when one is no address of the web. */
export function readAddresses(text: string): Addresses {
  const { addresses: { repository = "", site = "" } = {} } = JSON.parse(text);
  return { repository: checked("repository", repository), site: checked("site", site) };
}

function checked(name: string, address: unknown): string {
  if (address === "") return "";
  if (typeof address !== "string" || !/^https:\/\/[^/?#\s]+(?:\/[^?#\s]*)?$/.test(address)) {
    throw new TypeError(
      `Cannot read the address "${name}" in deno.json: ${JSON.stringify(address)} is no https:// address. Correct it.`,
    );
  }
  return address.replace(/\/+$/, "");
}

/** Returns why nothing can be published with these addresses; `undefined` if both are set. */
export function addressProblem(addresses: Addresses): string | undefined {
  const missing = (["repository", "site"] as const).filter((name) => addresses[name] === "");
  if (missing.length === 0) return undefined;
  const what = missing.length === 2
    ? "the addresses of the repository and the site are"
    : `the ${missing[0]} address is`;
  return `Cannot publish: ${what} empty in deno.json. ` +
    `Set "addresses": { "repository": "https://…", "site": "https://…" } there.`;
}

/** The address of the bytes of a file, at a tag. */
function rawAddress(repository: string, tag: string, path: string): string {
  const { host, pathname } = new URL(repository);
  // GitHub redirects to this host. A picture whose address redirects can be refused by the policy of a page.
  return host === "github.com"
    ? `https://raw.githubusercontent.com${pathname}/${tag}/${path}`
    : `${repository}/raw/${tag}/${path}`;
}

/**
 * Returns README with absolute links to its pictures, in Markdown and in HTML. In the repository, and on a page of the
 * repository, relative links work; a page of JSR has no pictures of its own.
 */
export function withAbsolutePictures(readme: string, { repository }: Addresses, tag: string): string {
  const absolute = (link: string): string =>
    /^(?:[a-z][a-z\d+.-]*:|\/|#)/i.test(link) ? link : rawAddress(repository, tag, link.replace(/^(?:\.\/)+/, ""));
  const parts = readme.split(/(^ *```[\s\S]*?^ *```$)/m); // fences are at odd places
  return parts.map((part, index) => {
    if (index % 2 === 1) return part;
    return part
      .replaceAll(/(!\[[^\]]*\]\()([^)\s]+)/g, (_, before, link) => before + absolute(link))
      .replaceAll(
        /<(?:img|source)\b[^>]*>/g,
        (tag) =>
          tag.replaceAll(/(\s(?:src|srcset)=")([^"]*)"/g, (_, before, links) => {
            const each = links.split(/,\s+/).map((link: string) => link.trim().replace(/^\S+/, absolute));
            return `${before}${each.join(", ")}"`;
          }),
      );
  }).join("");
}
