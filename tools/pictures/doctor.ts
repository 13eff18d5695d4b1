/**
 * Runs `informer doctor` as a user who may list pods and may not watch them.
 *
 * @module
 */
import { makeCertificates } from "../../tests/support/servers/certificates.ts";
import { kubeconfigText } from "../../tests/support/servers/kubeconfig.ts";
import { Folder, serve } from "../../tests/support/servers/serve.ts";
import { Pod } from "../../src/engine/kinds/core/v1.ts";
import { FakeApiServer, pod } from "../../src/testing/mod.ts";
import { drawScreen, record } from "./terminal.ts";
import type { Theme, Words } from "./theme.ts";

const SIZE = { columns: 92, rows: 40 };

/** Runs it, and draws its screen, light and dark. */
export async function doctorPicture(words: Words): Promise<Record<Theme, string>> {
  await using certificates = await makeCertificates();
  const server = new FakeApiServer({
    tokens: { "token-of-ada": "ada" },
    authorize: ({ user, resource, verb }) => user !== "ada" || resource !== "pods" || verb !== "watch",
  });
  for (const name of ["cart-0", "cart-1", "web-0"]) {
    server.create(Pod, pod({ name, namespace: "shop", node: "node-1" }));
  }
  const [cert, key] = ["server.crt", "server.key"].map((name) => certificates.text(name));
  await using served = await serve(server, { cert, key });
  await using folder = new Folder();
  folder.write(
    "kubeconfig.yaml",
    kubeconfigText({
      cluster: { server: served.url, "certificate-authority-data": btoa(certificates.text("ca.crt")) },
      user: { token: "token-of-ada" },
    }),
  );
  const main = new URL("../../src/cli/main.ts", import.meta.url).pathname;
  const config = new URL("../../deno.json", import.meta.url).pathname;
  const recording = record({
    ...SIZE,
    command: [Deno.execPath(), "run", "-A", "--no-check", "--config", config, main, "doctor", "pods", "-n", "shop"],
    cwd: folder.path,
    env: { KUBECONFIG: "kubeconfig.yaml" },
  });
  const code = await recording.ended;
  if (code !== 3) throw new Error(`Cannot draw informer doctor: it ended with ${code}, not with 3`);
  const window = { ...SIZE, title: "informer doctor pods -n shop" };
  const draw = (theme: Theme): Promise<string> => drawScreen(theme, words, window, recording.chunks);
  return { light: await draw("light"), dark: await draw("dark") };
}
