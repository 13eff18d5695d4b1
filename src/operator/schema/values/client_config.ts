/**
 * The address of a webhook in a configuration or a CRD, and the authorities that the API server trusts.
 *
 * {@linkcode clientConfigCauses} finds what kube-apiserver refuses, and {@linkcode hasCertificate} what it takes as
 * authorities. Certificates are not decoded.
 *
 * @module
 */
import { type Causes, fieldCause } from "../../../engine/protocol/refusal.ts";
import type { JsonObject } from "../../../engine/api/json.ts";
import { objectOr, textOf } from "../../../engine/api/members.ts";

const FORM = "; desired format: https://host[/path]";

/** Finds what kube-apiserver refuses in a `clientConfig`, whose path is `at`. */
export function clientConfigCauses({ url, service }: JsonObject, at: string, causes: Causes): void {
  const refuse = (holds: boolean, name: string, value: unknown, why: string): void => {
    if (holds) causes.push(fieldCause.invalid(`${at}.${name}`, JSON.stringify(value), why));
  };
  if ((url ?? undefined) === undefined === ((service ?? undefined) === undefined)) {
    causes.push(fieldCause.required(at, "exactly one of url or service is required"));
  } else if ((url ?? undefined) !== undefined) {
    const [, scheme = "", host = "", query = "", fragment = ""] =
      /^(?:([a-z][a-z\d+.-]*):)?(?:\/\/([^/?#]*))?[^?#]*(?:\?([^#]*))?(?:#(.*))?$/is.exec(textOf(url)) ?? [];
    refuse(scheme.toLowerCase() !== "https", "url", scheme, `'https' is the only allowed URL scheme${FORM}`);
    refuse(host === "", "url", host, `host must be specified${FORM}`);
    const user = host.slice(0, host.lastIndexOf("@") + 1).slice(0, -1);
    refuse(user !== "", "url", user, "user information is not permitted in the URL");
    refuse(fragment !== "", "url", fragment, "fragments are not permitted in the URL");
    refuse(query !== "", "url", query, "query parameters are not permitted in the URL");
  } else {
    const { name, namespace, port = 443, path = "/" } = objectOr(service);
    // The server confuses both.
    if (!name) causes.push(fieldCause.required(`${at}.service.namespace`));
    if (!namespace) causes.push(fieldCause.required(`${at}.service.name`));
    const isPort = Number(port) > 0 && Number(port) < 65_536;
    refuse(!isPort, "service.port", port, "port is not valid: must be between 1 and 65535, inclusive");
    refuse(!textOf(path).startsWith("/"), "service.path", path, "must start with a '/'");
  }
}

/** Returns true if a PEM text has a certificate. */
export function hasCertificate(text: string): boolean {
  return text.indexOf("-----END CERTIFICATE-----", text.indexOf("-----BEGIN CERTIFICATE-----") + 1) > 0 &&
    text.includes("-----BEGIN CERTIFICATE-----");
}

/** Returns true if the `caBundle` of a CRD's conversion is not what kube-apiserver takes as authorities. */
export function hasWrongBundle(crd: JsonObject): boolean {
  const { webhook } = objectOr(objectOr(crd.spec).conversion);
  const bundle = textOf(objectOr(objectOr(webhook).clientConfig).caBundle);
  try {
    return bundle !== "" && !hasCertificate(atob(bundle));
  } catch {
    return true; // it is no base64
  }
}
