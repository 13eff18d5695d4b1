// Definitions of kinds: accepted and refused as kube-apiserver does, for the same fields and reasons.
import { StatusError } from "@kube/informer";
import { CustomResourceDefinition } from "@kube/informer/kinds/apiextensions/v1";
import { startControlPlane } from "@kube/informer/testing/control-plane";
import type { StatusCause } from "@kube/informer/types";
import { assert, assertEquals } from "@std/assert";
import { definitionCauses } from "../../src/operator/schema/definition.ts";
import { versionOf } from "../../src/testing/control_plane/server_programs.ts";
import { type DefinitionCase, definitionCases, goodCases, schemaCases } from "../support/schema/definitions.ts";
import { report, testOfAssets } from "./_cluster.ts";

/** Paths and reasons in a form that is compared; empty for a definition that is taken. */
function reasonsOf(causes: readonly StatusCause[]): string {
  return linesOf(causes.map(({ field, reason = "" }) => `${field}: ${reason.replace("FieldValue", "")}`));
}

/** The messages, without the values that they show. */
function messagesOf(causes: readonly StatusCause[]): string {
  return linesOf(
    causes.map(({ field, message = "" }) => `${field}: ${message.replace(/^Inv.*?: .*?: (?=[a-z'])/, "")}`),
  );
}

function linesOf(lines: readonly string[]): string {
  return [...new Set(lines)].sort().join("\n    ");
}

/** The number of requests at a time. */
const AT_A_TIME = 16;

testOfAssets("definitions are refused as kube-apiserver refuses them", async (assets) => {
  await using server = await startControlPlane({ assets, version: await versionOf(assets) });
  using client = server.client();
  const ask = async ({ crd }: DefinitionCase): Promise<readonly StatusCause[]> => {
    try {
      await client.resource(CustomResourceDefinition).create(crd as never, { dryRun: true });
      return [];
    } catch (error) {
      if (!(error instanceof StatusError) || error.status.code !== 422) throw error;
      return error.status.details?.causes ?? [];
    }
  };
  for (const it of goodCases()) assertEquals([it.name, await ask(it), definitionCauses(it.crd)], [it.name, [], []]);
  const cases = [...definitionCases(), ...schemaCases()];
  const counts = { wrong: 0, answers: 0, reasons: 0, messages: 0 };
  for (let from = 0; from < cases.length; from += AT_A_TIME) {
    await Promise.all(
      cases.slice(from, from + AT_A_TIME).map(async (it) => {
        const [theirs, ours] = [await ask(it), definitionCauses(it.crd)];
        const [wanted, found] = [reasonsOf(theirs), reasonsOf(ours)];
        if (theirs.length > 0) counts.wrong++;
        if ((theirs.length === 0) === (ours.length === 0)) counts.answers++;
        if (messagesOf(theirs) === messagesOf(ours)) counts.messages++;
        if (wanted === found) counts.reasons++;
        else report(`${it.name}\n  server:\n    ${wanted || "accepted"}\n  here:\n    ${found || "accepted"}`);
      }),
    );
  }
  const { wrong, answers, reasons, messages } = counts;
  const all = cases.length;
  report(
    `${all} definitions, ${wrong} of them wrong: the same answer to ${answers}, causes ${reasons}, texts ${messages}`,
  );
  assert(wrong >= 300, `only ${wrong} are wrong`);
  assert(answers >= 0.99 * all, `${answers} of ${all}`);
  assert(reasons >= 0.95 * all, `${reasons} of ${all}`);
});
