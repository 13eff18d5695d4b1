// The dialect of YAML that kubectl reads: the table of the tests of `readYaml`, by kubectl itself. It needs no server.
import { assertEquals, assertStringIncludes } from "@std/assert";
import { KUBECTL_YAML, manifestOf, sortedJson } from "../support/texts/kubectl_yaml.ts";
import { testOfAssets } from "./_cluster.ts";

testOfAssets("kubectl reads what readYaml reads", async (assets) => {
  const file = await Deno.makeTempFile({ suffix: ".yaml" });
  const read = async (...texts: readonly string[]): Promise<Deno.CommandOutput> => {
    await Deno.writeTextFile(file, manifestOf(...texts));
    const args = ["label", "--local", "--filename", file, "a=b", "--output", "json"];
    return await new Deno.Command(`${assets}/kubectl`, { args, stdin: "null" }).output();
  };
  try {
    const taken = KUBECTL_YAML.filter(([, json]) => json !== undefined);
    const { stdout } = await read(...taken.map(([text]) => text));
    const { spec } = JSON.parse(new TextDecoder().decode(stdout));
    for (const [i, [text, json]] of taken.entries()) {
      assertEquals(sortedJson(spec[`v${i}`]), sortedJson(JSON.parse(json!)), text);
    }
    for (const [text] of KUBECTL_YAML.filter(([, json]) => json === undefined)) {
      const { success, stderr } = await read(text);
      assertEquals(success, false, text);
      assertStringIncludes(new TextDecoder().decode(stderr), "converting YAML to JSON");
    }
  } finally {
    await Deno.remove(file);
  }
});
