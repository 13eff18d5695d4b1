/**
 * Forwards connections of a port of this machine to another one, until it is killed: PORT TARGET. It prints a line when
 * it listens.
 *
 * @module
 */
const [port, target] = Deno.args.map(Number);
const listener = Deno.listen({ hostname: "127.0.0.1", port });
console.log("listening");
for await (const connection of listener) {
  Deno.connect({ hostname: "127.0.0.1", port: target }).then((other) => {
    connection.readable.pipeTo(other.writable).catch(() => {});
    other.readable.pipeTo(connection.writable).catch(() => {});
  }, () => connection.close());
}
