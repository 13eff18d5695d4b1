import { tokenProblem } from "../text/token_problem.ts";
import type { ResolvedCluster } from "./resolve_cluster.ts";
import { EntryFields } from "../model/entry_fields.ts";
import { type ExecPlugin, readExec } from "../exec/exec_plugin.ts";
import { type Impersonation, isHeaderValue } from "./impersonation.ts";
import type { KubeconfigEntry } from "../model/kubeconfig.ts";
import { type FileMaterial, type Material, readMaterial } from "./material.ts";
import { isRecord } from "../text/is_record.ts";
import { certificateProblem, privateKeyProblem } from "../pem/certificate_problem.ts";
import { Secret } from "../text/secret.ts";
import { credentialsProblem } from "./credentials_problem.ts";
import { quote } from "../text/quote.ts";

/** The credentials of a user entry: a bearer token, a password, a client certificate, or a credential plugin. */
export interface ResolvedUser {
  /** Name of the user entry. */
  readonly name: string;
  /** A client certificate and its key. */
  readonly clientCertificate?: { readonly certificate: Material; readonly key: Material };
  /** A bearer token. If there is a token file too, this token is used only until the file can be read. */
  readonly token?: Secret;
  /** A file with a bearer token, read again when it changes. */
  readonly tokenFile?: FileMaterial;
  /** A user name and password. */
  readonly basic?: { readonly username: string; readonly password: Secret };
  /** A credential plugin, which returns a token or a client certificate. */
  readonly exec?: ExecPlugin;
  /** The user to impersonate. */
  readonly impersonation?: Impersonation;
}

/**
 * Resolves a user entry, and validates it for `server` and its proxy.
 *
 * @throws {KubeconfigError} for a field that is invalid, contradicts another, is not supported or would be sent in
 * clear text.
 */
export function resolveUser(
  entry: KubeconfigEntry,
  { server, proxy }: Pick<ResolvedCluster, "server" | "proxy">,
): ResolvedUser {
  const fields = new EntryFields(entry);
  refuseAuthProvider(fields);
  const clientCertificate = readClientCertificate(fields);
  const token = readToken(fields);
  const path = fields.text("tokenFile");
  const basic = readBasic(fields);
  const exec = readPlugin(fields);
  const impersonation = readImpersonation(fields);
  if (basic !== undefined && (token !== undefined || path !== undefined)) {
    throw fields.error(
      token === undefined ? "tokenFile" : "token",
      `is set together with "username", and only one can be sent: remove one of them`,
    );
  }
  if (server.protocol !== "https:" && clientCertificate !== undefined) {
    throw fields.error(
      clientCertificate.certificate.place.field,
      `cannot be sent to ${quote(server.origin)}, which has no TLS: use an "https://" server or remove it`,
    );
  }
  const problem = credentialsProblem(server, proxy);
  for (const field of ["token", "tokenFile", "username", "exec"]) {
    if (problem !== undefined && fields.has(field)) {
      throw fields.error(field, `${problem}: use an "https://" server or remove it`);
    }
  }
  return {
    name: entry.name,
    ...(clientCertificate && { clientCertificate }),
    ...(token && { token }),
    ...(path !== undefined && { tokenFile: { type: "file" as const, path, place: fields.place("tokenFile") } }),
    ...(basic && { basic }),
    ...(exec && { exec }),
    ...(impersonation && { impersonation }),
  };
}

/** Replacements of the providers that client-go used to have built in, by name. */
const REPLACEMENTS: Readonly<Record<string, string>> = {
  gcp: `install "gke-gcloud-auth-plugin" and run "gcloud container clusters get-credentials"`,
  azure: `install "kubelogin" (github.com/Azure/kubelogin) and run "kubelogin convert-kubeconfig"`,
  oidc: `install "kubectl-oidc_login" (github.com/int128/kubelogin) and write it as "exec"`,
  openstack: `install "client-keystone-auth" (kubernetes/cloud-provider-openstack) and write it as "exec"`,
};

function refuseAuthProvider(fields: EntryFields): void {
  if (!fields.has("auth-provider")) return;
  const provider = fields.raw("auth-provider");
  const name = isRecord(provider) && typeof provider.name === "string" ? provider.name : "";
  const instead = Object.hasOwn(REPLACEMENTS, name) ? REPLACEMENTS[name] : `use a credential plugin, written as "exec"`;
  throw fields.error(
    "auth-provider",
    `asks for the login ${quote(name)} of a provider that is no longer built in: ${instead}, ` +
      `or pass a token as "token" or "tokenFile"`,
  );
}

function readPlugin(fields: EntryFields): ExecPlugin | undefined {
  const exec = readExec(fields);
  if (exec === undefined) return undefined;
  const rivals = ["token", "tokenFile", "username", "client-certificate", "client-certificate-data"];
  const rival = rivals.find((field) => fields.has(field));
  if (rival === undefined) return exec;
  throw fields.error("exec", `is set together with "${rival}", and kubectl would not run it then: remove one of them`);
}

function readClientCertificate(fields: EntryFields): ResolvedUser["clientCertificate"] {
  const certificate = readMaterial(fields, "client-certificate", certificateProblem);
  const key = readMaterial(fields, "client-key", privateKeyProblem);
  if (certificate === undefined && key === undefined) return undefined;
  if (certificate === undefined) {
    throw fields.error(
      key!.place.field,
      `has no certificate: add "client-certificate" or "client-certificate-data"`,
    );
  }
  if (key === undefined) {
    throw fields.error(certificate.place.field, `has no key: add "client-key" or "client-key-data"`);
  }
  return { certificate, key };
}

function readToken(fields: EntryFields): Secret | undefined {
  const token = fields.text("token");
  if (token === undefined) return undefined;
  const problem = tokenProblem(token);
  if (problem !== undefined) throw fields.error("token", problem);
  return new Secret(token);
}

function readBasic(fields: EntryFields): ResolvedUser["basic"] {
  const username = fields.text("username");
  const password = fields.text("password") ?? "";
  if (username === undefined) {
    if (password !== "") throw fields.error("password", `has no "username": add one, or remove it`);
    return undefined;
  }
  if (username.includes(":")) throw fields.error("username", `holds ":", which basic authentication cannot send`);
  // deno-lint-ignore no-control-regex
  if (/[\x00-\x1f\x7f]/.test(username)) throw fields.error("username", "holds control characters");
  // deno-lint-ignore no-control-regex
  if (/[\x00-\x1f\x7f]/.test(password)) throw fields.error("password", "holds control characters");
  return { username, password: new Secret(password) };
}

function readImpersonation(fields: EntryFields): Impersonation | undefined {
  const user = fields.text("as");
  const uid = fields.text("as-uid");
  const groups = fields.texts("as-groups");
  const extra = fields.textLists("as-user-extra");
  if (user === undefined) {
    const lonely = ["as-uid", "as-groups", "as-user-extra"].find((field) => fields.has(field));
    if (lonely !== undefined) throw fields.error(lonely, `needs a user to act as: add "as"`);
    return undefined;
  }
  const check = (field: string, values: readonly string[]) => {
    for (const value of values) {
      if (!isHeaderValue(value)) {
        throw fields.error(field, "holds line ends, control characters, or blanks at its ends");
      }
    }
  };
  check("as", [user]);
  check("as-uid", uid === undefined ? [] : [uid]);
  check("as-groups", groups);
  for (const [key, values] of extra) {
    if (key === "" || !key.isWellFormed()) {
      throw fields.error("as-user-extra", "has a key that cannot be sent: it is empty or malformed");
    }
    check("as-user-extra", values);
  }
  return { user, ...(uid !== undefined && { uid }), groups, extra };
}
