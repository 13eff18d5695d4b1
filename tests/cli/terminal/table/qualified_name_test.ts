import { assertEquals } from "@std/assert";
import { qualifiedName } from "../../../../src/cli/terminal/table/qualified_name.ts";
import { Deployment } from "../../../../src/kinds/apps/v1.ts";
import { Pod } from "../../../../src/kinds/core/v1.ts";

Deno.test("qualifiedName returns a name that kubectl accepts", () => {
  assertEquals(qualifiedName(Pod, "web-0"), "pod/web-0");
  assertEquals(qualifiedName(Deployment, "web"), "deployment.apps/web");
});
