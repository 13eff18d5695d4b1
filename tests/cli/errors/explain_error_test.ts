import { ValidationError } from "@cliffy/command";
import { assertEquals } from "@std/assert";
import { DecodeError, StatusError, UnreachableError } from "../../../src/api/status.ts";
import { explainError, UsageError } from "../../../src/cli/errors/explain_error.ts";
import { ConnectError } from "../../../src/connect/deno/connect_options.ts";
import { KubeconfigError } from "../../../src/connect/kubeconfig/parse_kubeconfig.ts";
import { errorLine } from "../../../src/errors/errors.ts";

function status(code: number, reason: string): StatusError {
  return new StatusError(`Cannot list "pods": ${code} ${reason}: no`, { code, reason, message: "no" });
}

Deno.test("explainError gives each kind of error its exit code", () => {
  const cases: [unknown, number][] = [
    [new UsageError("--port must be at least 0"), 2],
    [new ValidationError("Missing argument(s): resources"), 2],
    [new SyntaxError("Cannot parse label selector"), 2],
    [new TypeError(`Cannot connect: "server" is empty`), 2],
    [new RangeError("Cannot create a reflector"), 2],
    [new TypeError("x is not a function"), 1],
    [new ConnectError("Cannot connect", []), 3],
    [new KubeconfigError("Cannot use kubeconfig"), 3],
    [new KubeconfigError(`Cannot use user "a": there is no such file`, { entry: `user "a"` }), 3],
    [new UnreachableError("Cannot reach it"), 3],
    [status(401, "Unauthorized"), 3],
    [status(403, "Forbidden"), 3],
    [status(404, "NotFound"), 1],
    [status(500, "InternalError"), 1],
    [new DecodeError("Cannot read the answer"), 1],
    ["thrown text", 1],
  ];
  for (const [error, code] of cases) assertEquals(explainError(error).code, code, String(error));
});

Deno.test("explainError finds the exit code by the reason of an error, whatever its words are", () => {
  const kubeconfig = (text: string, reason?: KubeconfigError["reason"]): KubeconfigError =>
    new KubeconfigError(text, { reason });
  const option = (text: string, reason?: ConnectError["reason"]): ConnectError =>
    new ConnectError(text, [], { reason });
  const cases: [Error, number][] = [
    [kubeconfig("in other words", "missing-file"), 2],
    [kubeconfig("in other words", "missing-context"), 2],
    [kubeconfig(`Cannot use kubeconfig: it was asked for context "a": there is no such file`), 3],
    [option("in other words", "missing-file"), 2],
    [option(`Cannot connect: "tokenFile" names "/t": there is no such file`), 3],
    [new Error(`Cannot connect: there is no such file`), 1],
  ];
  for (const [error, code] of cases) assertEquals(explainError(error).code, code, String(error));
  const denied = new Deno.errors.NotCapable("Run this program with --allow-net=a:443");
  assertEquals(explainError(new UnreachableError("In other words: --allow-net=a:443", { cause: denied })), {
    code: 3,
    message: "In other words: --allow-net=a:443",
  });
});

Deno.test("explainError names the flags that help", () => {
  const attempts = [{ source: "KUBECONFIG", problem: "it is not set" }, { source: "in-cluster", problem: "no pod" }];
  assertEquals(
    explainError(new ConnectError(`Cannot connect: found nothing; pass "server" or "kubeconfig"`, attempts)).message,
    "Cannot connect: found nothing; pass --server or --kubeconfig (KUBECONFIG: it is not set; in-cluster: no pod)",
  );
  assertEquals(
    explainError(new TypeError(`Cannot connect: "tokenFile" is empty`)).message,
    "Cannot connect: --token-file is empty",
  );
  assertEquals(
    explainError(new KubeconfigError(`field "current-context" is missing: set it, or pass "context"`)).message,
    `field "current-context" is missing: set it, or pass --context`,
  );
});

Deno.test("explainError distinguishes a bad certificate, a wrong protocol and an unreachable server", () => {
  const adviceFor = (reason: string): string =>
    explainError(new UnreachableError(reason)).message.slice(reason.length + 2);
  assertEquals(
    adviceFor("invalid peer certificate: UnknownIssuer"),
    "check certificate-authority in the kubeconfig, and the server's certificate",
  );
  assertEquals(
    adviceFor("received corrupt message of type InvalidContentType"),
    `the server does not speak TLS; check whether it should be "http://"`,
  );
  assertEquals(adviceFor("Connection refused"), "check the address, and whether the server runs");
});

Deno.test("errorLine adds causes that the message does not contain, on one line", () => {
  const inner = new Error("disk\n full");
  assertEquals(errorLine(new Error("Cannot write", { cause: inner })), "Cannot write: disk full");
  assertEquals(errorLine(new Error("Cannot write: disk full", { cause: inner })), "Cannot write: disk full");
  assertEquals(errorLine(new RangeError()), "RangeError");
  assertEquals(errorLine(7), "7");
});
