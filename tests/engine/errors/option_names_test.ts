import { assert, assertEquals, assertThrows } from "@std/assert";
import type { BackoffOptions } from "../../../src/engine/async/time.ts";
import { checkBackoff, checkNames, namesOf } from "../../../src/engine/errors/option_names.ts";

interface Waiting {
  readonly waitMs?: number;
  readonly onError?: (error: unknown) => void;
}

const NAMES = namesOf<Waiting>()("waitMs onError");

function errorOf(options: object | undefined): string | undefined {
  try {
    checkNames("wait", options, NAMES);
    return undefined;
  } catch (error) {
    assert(error instanceof TypeError);
    return error.message;
  }
}

Deno.test("checkNames: a misspelt option is refused with the one that was meant", () => {
  assertEquals(NAMES, ["waitMs", "onError"]);
  assertEquals(errorOf({ waitMS: 3 }), 'Cannot wait: there is no option "waitMS". Did you mean "waitMs"?');
  assertEquals(
    errorOf({ waitMs: 3, colour: "red" }),
    'Cannot wait: there is no option "colour". Remove it. The options are waitMs, onError',
  );
});

Deno.test("checkNames: options that exist, none, and objects of classes pass", () => {
  assertEquals(errorOf({ waitMs: 3, onError: undefined }), undefined);
  assertEquals(errorOf({}), undefined);
  assertEquals(errorOf(undefined), undefined);
  assertEquals(
    errorOf(
      new class {
        waitMs = 3;
        own = 1;
      }(),
    ),
    undefined,
  );
});

Deno.test("checkBackoff refuses options that are not valid waits", () => {
  const refused: [BackoffOptions, string][] = [
    [{ initialMs: -1 }, "initialMs"],
    [{ maxMs: NaN }, "maxMs"],
    [{ maxMs: Infinity }, "maxMs"],
    [{ factor: 0.5 }, "factor must be at least 1, but it is 0.5"],
    [{ jitter: -1 }, "jitter must be at least 0, but it is -1"],
  ];
  for (const [options, message] of refused) assertThrows(() => checkBackoff(options), RangeError, message);
  checkBackoff({ initialMs: 0, maxMs: 0, factor: 1, jitter: 0 });
});
