import { assertEquals } from "@std/assert";
import { Client } from "../../src/client/client.ts";
import { denoTransport } from "../../src/deno/transport.ts";
import { SharedIndexInformer } from "../../src/informer/shared_index_informer.ts";
import { Pod } from "../../src/kinds/core/v1.ts";
import { FakeApiServer, pod } from "../../src/testing/mod.ts";
import { makeCertificates } from "../support/certificates.ts";

const WATCHES = 20;
const ROUNDS = 10;

for (const http2 of [false, true]) {
  const name = `denoTransport carries ${WATCHES} watches and ${WATCHES * ROUNDS} lists at once over HTTP/${
    http2 ? 2 : 1
  }`;
  Deno.test(name, async () => {
    await using certificates = await makeCertificates();
    const fake = new FakeApiServer();
    const versions = new Set<string>();
    const server = Deno.serve({
      ...{ hostname: "127.0.0.1", port: 0, onListen: () => {} },
      ...{ cert: certificates.text("server.crt"), key: certificates.text("server.key") },
    }, (request, info) => {
      // Only HTTP/1.1 names the host by a header of its own.
      versions.add(request.headers.has("host") ? "1" : "2");
      return fake.fetch(request, info);
    });
    {
      const transport = denoTransport({ caCerts: [certificates.text("ca.crt")], http2 });
      using client = new Client({ server: `https://127.0.0.1:${server.addr.port}`, transport });
      const namespaces = Array.from({ length: WATCHES }, (_, index) => `n-${index}`);
      const informers = namespaces.map((namespace) => new SharedIndexInformer(client.resource(Pod, { namespace })));
      await using stack = new AsyncDisposableStack();
      for (const informer of informers) {
        stack.use(informer);
        informer.run();
      }
      await Promise.all(informers.map((informer) => informer.waitForCacheSync()));
      for (let round = 0; round < ROUNDS; round++) {
        for (const namespace of namespaces) fake.create(Pod, pod({ name: `p-${round}`, namespace }));
        const counts = await Promise.all(
          namespaces.map(async (namespace) => (await client.resource(Pod, { namespace }).list()).items.length),
        );
        assertEquals(new Set(counts), new Set([round + 1]));
      }
      await Promise.all(
        informers.map((informer) => informer.until(({ metadata }) => metadata.name === `p-${ROUNDS - 1}`)),
      );
      assertEquals(new Set(informers.map((informer) => informer.lister.list().length)), new Set([ROUNDS]));
      assertEquals(new Set(informers.map((informer) => informer.status().errors)), new Set([0]));
      assertEquals([...versions], [http2 ? "2" : "1"]);
    }
    await server.shutdown();
    fake[Symbol.dispose]();
  });
}
