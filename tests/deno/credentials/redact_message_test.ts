import { assert, assertEquals } from "@std/assert";
import { redactMessage } from "../../../src/deno/credentials/redact_message.ts";

const NOTHING = { args: [], env: [] };

Deno.test("redactMessage removes secrets recognized by their form or by the word before them", () => {
  const hex = "0123456789abcdef".repeat(2);
  const cases: readonly [said: string, shown: string][] = [
    ["running: oc login --token hunter2hunter2", "running: oc login --token [redacted]"],
    [`login --password "hunter2 and more" -v`, `login --password "[redacted]" -v`],
    ["login '--client-secret' hunter2 -v", "login '--client-secret' [redacted] -v"],
    [`{"access_token": "hunter2 hunter2", "a": 1}`, `{"access_token": "[redacted]", "a": 1}`],
    [`request failed with token dop_v1_${hex}${hex}`, "request failed with token [redacted]"],
    [`secret is ${hex}`, "secret is [redacted]"],
    [`secret is ${hex.toUpperCase()}`, "secret is [redacted]"],
    ["passphrase: hunter2", "passphrase: [redacted]"],
  ];
  for (const [said, shown] of cases) assertEquals(redactMessage(said, NOTHING), shown);
});

Deno.test("redactMessage keeps text that is not secret", () => {
  for (
    const said of [
      "the --token flag must be given, or --token-file must be",
      "context gke_my-project-123456_europe-west1-b_cluster-1 not found",
      "request id 6ba7b810-9dad-11d1-80b4-00c04fd430c8 of arn:aws:eks:eu-west-1:123456789012:cluster/shop failed",
      "open /home/ada/.config/gcloud/application_default_credentials.json: no such file or directory",
    ]
  ) assertEquals(redactMessage(said, NOTHING), said);
});

Deno.test("redactMessage is fast for any text of a megabyte", () => {
  for (const part of [" ", "token", "--token", "a-", "key = ", "eyJ", "://a:", `--key "`, "0a"]) {
    const startedAt = performance.now();
    redactMessage(part.repeat(1_048_576 / part.length), NOTHING);
    assert(performance.now() - startedAt < 5_000, part);
  }
});
