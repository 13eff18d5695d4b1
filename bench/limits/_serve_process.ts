/** Serves on loopback, prints the address, and ends the process when its standard input ends. */
export async function serveProcess(answer: Deno.ServeHandler<Deno.NetAddr>): Promise<never> {
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: ({ port }) => console.log(`http://127.0.0.1:${port}`) },
    answer,
  );
  for await (const _ of Deno.stdin.readable); // until the process that started this one ends
  server.unref();
  Deno.exit(0); // open streams are of no interest
}
