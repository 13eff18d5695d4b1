// Definitions of kinds: accepted and refused as kube-apiserver does, for the same fields and reasons.
import { StatusError } from "@kube/informer";
import { CustomResourceDefinition } from "@kube/informer/kinds/apiextensions/v1";
import { startControlPlane } from "@kube/informer/testing/control-plane";
import { assert, assertEquals } from "@std/assert";
import { definitionCauses } from "../../src/schema/definition.ts";
import { versionOf } from "../../src/testing/control_plane/server_programs.ts";
import { type DefinitionCase, definitionCases, goodCases, schemaCases } from "../support/schema/definitions.ts";
import { report, testOfAssets } from "./_cluster.ts";

/** What is wrong with fields, in a form that is compared; empty for a definition that is taken. */
function shown(causes: readonly { readonly field: string; readonly reason: string }[]): string {
  return [...new Set(causes.map(({ field, reason }) => `${field}: ${reason.replace("FieldValue", "")}`))].sort().join(
    "\n    ",
  );
}

testOfAssets("definitions are refused as kube-apiserver refuses them", async (assets) => {
  await using server = await startControlPlane({ assets, version: await versionOf(assets) });
  using client = server.client();
  const ask = async ({ crd }: DefinitionCase): Promise<string> => {
    try {
      await client.resource(CustomResourceDefinition).create(crd as never, { dryRun: true });
      return "";
    } catch (error) {
      if (!(error instanceof StatusError) || error.status.code !== 422) throw error;
      return shown((error.status.details?.causes ?? []) as never);
    }
  };
  const good = goodCases();
  for (const it of good) assertEquals([it.name, await ask(it), shown(definitionCauses(it.crd))], [it.name, "", ""]);
  const cases = [...definitionCases(), ...schemaCases()];
  let [wrong, sameAnswer, sameCauses] = [0, 0, 0];
  for (let from = 0; from < cases.length; from += 16) {
    await Promise.all(
      cases.slice(from, from + 16).map(async (it) => {
        const [theirs, ours] = [await ask(it), shown(definitionCauses(it.crd))];
        if (theirs !== "") wrong++;
        if ((theirs === "") === (ours === "")) sameAnswer++;
        if (theirs === ours) sameCauses++;
        else console.log(`${it.name}\n  server:\n    ${theirs || "accepted"}\n  here:\n    ${ours || "accepted"}`);
      }),
    );
  }
  const all = cases.length;
  report(
    `${all} definitions, ${wrong} of them wrong: ${sameAnswer} with the same answer, ${sameCauses} with the same causes`,
  );
  assert(wrong >= 300, `only ${wrong} are wrong`);
  assert(sameAnswer >= 0.99 * all, `${sameAnswer} of ${all}`);
  assert(sameCauses >= 0.95 * all, `${sameCauses} of ${all}`);
});
