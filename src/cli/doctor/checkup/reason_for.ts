import {
  CredentialsError,
  DecodeError,
  isForbidden,
  isUnauthorized,
  StatusError,
  UnreachableError,
} from "../../../api/errors.ts";
import { ConnectError } from "../../../deno/connect_error.ts";
import { KubeconfigError } from "../../../kubeconfig/model/kubeconfig_error.ts";
import { EXIT_CODE } from "../../errors/exit_code.ts";
import { explainError } from "../../errors/explain_error.ts";

/** A problem and its remedy. */
export interface ReasonAndRemedy {
  /** The problem, or the result of a successful check. */
  readonly what: string;
  /** The remedy, if known. */
  readonly remedy?: string;
}

/** Plain reasons and remedies for the connection errors of Deno, rustls and hyper; the first match applies. */
const CONNECTING: readonly (readonly [says: RegExp, what: string | undefined, remedy: string])[] = [
  [
    /UnknownIssuer|CaUsedAsEndEntity/,
    "the certificate is not signed by a CA that this configuration trusts",
    "put the authority's certificate into certificate-authority-data of the cluster entry; if it is there, ask who " +
    "answers at this address",
  ],
  [
    /certificate not valid for name/,
    undefined,
    "use one of these names as the address, or set tls-server-name to one of them",
  ],
  [
    /certificate expired/,
    "the server's certificate has expired",
    "renew the server's certificate; or set this machine's clock, if that is wrong",
  ],
  [
    /certificate not valid yet/,
    "the server's certificate is not valid yet",
    "set this machine's clock, or the clock of where the certificate was made",
  ],
  [/invalid peer certificate/, undefined, "renew the server's certificate"],
  [
    /received fatal alert: (CertificateRequired|BadCertificate|UnknownCA|CertificateExpired|CertificateRevoked|CertificateUnknown)/,
    "the server refuses connections without a client certificate that it knows",
    "renew client-certificate-data and client-key-data of the user entry",
  ],
  [/InvalidContentType/, "the server does not speak TLS", `write "http://" instead of "https://", or check the port`],
  [
    /invalid HTTP version|HTTP request to an HTTPS server/,
    "the server does not speak plain HTTP",
    `write "https://" instead of "http://"`,
  ],
  [
    /proxy authentication required/,
    "the proxy asks for a login",
    `put it into the proxy's address, "http://user:password@host:port"`,
  ],
  [
    /unsuccessful tunnel/,
    "the proxy does not let us through to the server",
    "ask who runs the proxy to allow this address, or name the address in NO_PROXY",
  ],
  [
    /dns error|failed to lookup|Name or service not known|nodename nor servname|No such host|Temporary failure in name/,
    "there is no such host",
    "check the address for typing errors, and whether it takes a VPN to know it",
  ],
  [
    /[Rr]efused/,
    "the connection was refused",
    "check the port, and whether the server or the tunnel to it runs",
  ],
  [
    /[Nn]etwork is unreachable|No route to host|NetworkUnreachable|HostUnreachable/,
    "there is no route to it",
    "check the network, and whether it takes a VPN",
  ],
  [
    /connection closed|[Cc]onnection reset|close_notify|unexpected end of file|broken pipe/,
    "the connection broke off",
    "check what stands between here and the server: a firewall, a proxy, a load balancer without a server behind it",
  ],
];

/** Matches a message that recommends a Deno flag, and the text before it. */
const FLAG = /^(.*?)[,;:]? *(?:run it|run this program|is started) with (--[\w-]+=(?:"[^"]*"|[^\s;)]+))/s;

/** Returns the reason, remedy and exit code of an error. */
export function reasonFor(error: unknown): ReasonAndRemedy & { readonly code: number } {
  const flag = error instanceof Error ? FLAG.exec(error.message) : null;
  if (flag !== null) {
    const [, before, name] = flag;
    const insecure = before.includes("insecure-skip-tls-verify");
    const what = insecure
      ? "the certificate is not trusted, and Deno checks it for all insecure-skip-tls-verify"
      : before;
    return { what, remedy: `run Deno with ${name}`, code: EXIT_CODE.connection };
  }
  if (error instanceof StatusError) {
    const { code, reason, message } = error.status;
    const refused = isUnauthorized(error) || isForbidden(error);
    return {
      what: `${code} ${reason}: ${message}`,
      remedy: refused ? "ask for the right to do that" : "look into the server's log",
      code: refused ? EXIT_CODE.connection : EXIT_CODE.failed,
    };
  }
  const connecting = connectingReason(error);
  if (connecting !== undefined) return { ...connecting, code: EXIT_CODE.connection };
  const { code, message } = explainError(error);
  const [what, ...advice] = message.split(/; (?=correct it|check |choose |run |install |renew |set |pass )/);
  return { what, ...(advice.length > 0 && { remedy: advice.join("; ") }), code };
}

/** Returns the reason of a connection error; `undefined` for other errors. */
function connectingReason(error: unknown): ReasonAndRemedy | undefined {
  const isOther = [KubeconfigError, ConnectError, CredentialsError, DecodeError].some((kind) => error instanceof kind);
  if (isOther) return undefined;
  const said = saidBy(error);
  const known = CONNECTING.find(([says]) => says.test(said));
  if (known !== undefined) {
    const [, what, remedy] = known;
    const found = what ?? said.replace(/^.*invalid peer certificate: /, "");
    const proxy = /\(through (proxy "[^"]*")\)/.exec(said)?.[1];
    return { what: proxy === undefined ? found : `${found} (through ${proxy})`, remedy };
  }
  const unknown = error instanceof UnreachableError || (error instanceof TypeError && error.cause !== undefined);
  return unknown ? { what: said, remedy: "check the address, and whether the server runs" } : undefined;
}

/** Joins the messages of the innermost causes, without the address. */
function saidBy(error: unknown): string {
  const said: string[] = [];
  for (let inner: unknown = error; inner instanceof Error; inner = inner.cause) {
    const text = inner.message.replace(/error sending request (?:from \S+ )?for (?:url )?\S+(?: \([^)]*\))?: /, "");
    if (text !== "fetch failed" && !said.some((other) => other.includes(text))) said.push(text);
  }
  return said.join(": ");
}
