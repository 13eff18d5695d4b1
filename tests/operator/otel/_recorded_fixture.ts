import { Client } from "../../../src/engine/client/client.ts";
import type { SharedInformerFactoryOptions } from "../../../src/engine/informer/options.ts";
import { SharedInformerFactory } from "../../../src/engine/informer/shared_informer_factory.ts";
import { observeRequests } from "../../../src/operator/otel/otel.ts";
import { FakeApiServer } from "../../../src/testing/fake/fake_api_server.ts";
import { FakeTime } from "../../support/times/fake_time.ts";
import { Recorder } from "./_recorder.ts";

/** A fake server and a factory of informers under fake time, whose requests, lists and watches are recorded. */
export class RecordedFixture implements AsyncDisposable {
  readonly time = new FakeTime();
  readonly recorder = new Recorder();
  readonly server = new FakeApiServer();
  readonly client = new Client({ server: "http://fake", transport: this.recorder.noting(this.server) });
  readonly informers: SharedInformerFactory;

  constructor({ reflector, ...options }: SharedInformerFactoryOptions = {}) {
    this.informers = new SharedInformerFactory(this.client, {
      reflector: { observe: observeRequests(), ...reflector },
      ...options,
    });
  }

  /** Lets so much time pass, and everything happen that is due before and after. */
  async pass(ms = 0): Promise<void> {
    for (let i = 0; i < 12; i++) await this.time.tickAsync(0);
    await this.time.tickAsync(ms);
    for (let i = 0; i < 12; i++) await this.time.tickAsync(0);
  }

  /** Stops what runs. */
  async stop(): Promise<void> {
    const ended = this.end();
    await this.pass();
    await ended;
  }

  /** Ends what runs; time passes meanwhile. */
  protected end(): Promise<void> {
    return this.informers.shutdown();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    this.client[Symbol.dispose]();
    this.recorder[Symbol.dispose]();
    this.time[Symbol.dispose]();
  }
}
