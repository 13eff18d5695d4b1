import { assert, assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import { deadline } from "@std/async";
import { FaultProxy } from "../support/recovery/fault_proxy.ts";
import { faultSchedule } from "../support/recovery/fault_schedule.ts";

/** A server that sends back what it receives. */
class Echo implements AsyncDisposable {
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #echoing = this.#echo();

  get url(): string {
    return `tcp://127.0.0.1:${this.#listener.addr.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    await this.#echoing;
  }

  async #echo(): Promise<void> {
    const connections: Promise<void>[] = [];
    for await (const { readable, writable } of this.#listener) connections.push(readable.pipeTo(writable));
    await Promise.allSettled(connections); // a connection that is cut fails one of its ends
  }
}

class Caller implements Disposable {
  readonly #connection: Deno.TcpConn;

  private constructor(connection: Deno.TcpConn) {
    this.#connection = connection;
  }

  static async connect({ url }: FaultProxy): Promise<Caller> {
    return new Caller(await Deno.connect({ hostname: "127.0.0.1", port: Number(new URL(url).port) }));
  }

  async send(text: string): Promise<void> {
    await this.#connection.write(new TextEncoder().encode(text));
  }

  /** The next bytes; `undefined` when the connection is over. */
  async receive(): Promise<string | undefined> {
    const buffer = new Uint8Array(1_000);
    try {
      const length = await this.#connection.read(buffer);
      return length === null ? undefined : new TextDecoder().decode(buffer.subarray(0, length));
    } catch (error) {
      if (error instanceof Deno.errors.ConnectionReset) return undefined;
      throw error;
    }
  }

  async echo(text: string): Promise<void> {
    await this.send(text);
    assertEquals(await this.receive(), text);
  }

  [Symbol.dispose](): void {
    this.#connection.close();
  }
}

Deno.test("FaultProxy cuts the connection that forwarded bytes last, or all connections", async () => {
  await using server = new Echo();
  await using proxy = new FaultProxy(server.url);
  using first = await Caller.connect(proxy);
  await first.echo("a");
  using second = await Caller.connect(proxy);
  await second.echo("b");
  proxy.cut();
  assertEquals(await second.receive(), undefined);
  await first.echo("c");
  proxy.cutAll();
  assertEquals(await first.receive(), undefined);
  using third = await Caller.connect(proxy);
  await third.echo("d");
  assertEquals(proxy.accepted, 3);
});

Deno.test("FaultProxy holds bytes and new connections until it is healed", async () => {
  await using server = new Echo();
  await using proxy = new FaultProxy(server.url);
  using open = await Caller.connect(proxy);
  await open.echo("a");
  proxy.hold();
  using fresh = await Caller.connect(proxy);
  await Promise.all([open.send("b"), fresh.send("c")]);
  const received = Promise.all([open.receive(), fresh.receive()]);
  await assertRejects(() => deadline(received, 50), DOMException);
  proxy.heal();
  assertEquals(await received, ["b", "c"]);
});

Deno.test("FaultProxy slows connections to 250 bytes a second until it is healed", async () => {
  await using server = new Echo();
  await using proxy = new FaultProxy(server.url);
  using caller = await Caller.connect(proxy);
  await caller.echo("a");
  proxy.slow();
  await caller.send("x".repeat(500));
  assertEquals(await caller.receive(), "x".repeat(25));
  proxy.heal();
  let rest = "";
  while (rest.length < 475) rest += await caller.receive();
  assertEquals(rest, "x".repeat(475));
});

Deno.test("FaultProxy refuses connections, or closes them at once, until it is healed", async () => {
  await using server = new Echo();
  await using proxy = new FaultProxy(server.url);
  await proxy.refuse();
  await assertRejects(() => Caller.connect(proxy), Deno.errors.ConnectionRefused);
  proxy.heal();
  proxy.turnAway();
  using turned = await Caller.connect(proxy);
  assertEquals(await turned.receive(), undefined);
  proxy.heal();
  using caller = await Caller.connect(proxy);
  await caller.echo("a");
});

Deno.test("FaultProxy ends while connections are held and the server is gone", async () => {
  const server = new Echo();
  const { url } = server;
  await server[Symbol.asyncDispose]();
  await using proxy = new FaultProxy(url);
  using refused = await Caller.connect(proxy);
  assertEquals(await refused.receive(), undefined);
  proxy.hold();
  using _held = await Caller.connect(proxy);
});

Deno.test("faultSchedule gives the same faults for the same seed, within its limits, and an outage at the end", () => {
  const options = { totalMs: 60_000, longestMs: 4_000 };
  for (let seed = 1; seed <= 50; seed++) {
    const faults = faultSchedule(seed, options);
    assertEquals(faultSchedule(seed, options), faults);
    assertNotEquals(faultSchedule(seed + 1, options), faults);
    assert(faults.length > 5);
    const last = faults.at(-1)!;
    assertEquals(last.atMs + last.forMs, options.totalMs);
    for (const [i, { atMs, forMs }] of faults.entries()) {
      assert(forMs <= options.longestMs && atMs + forMs <= (faults[i + 1]?.atMs ?? options.totalMs));
    }
  }
});
