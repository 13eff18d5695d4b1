import { assertEquals } from "@std/assert";
import { VersionHistory } from "../../../src/edge/feed/version_history.ts";

Deno.test("a position is found by the version that the cache had there", () => {
  const history = new VersionHistory();
  history.add("10", 1, false);
  history.add("12", 2, false);
  assertEquals(["9", "10", "11", "12", "13", ""].map((it) => history.positionOf(it)), [
    undefined,
    1,
    undefined,
    2,
    undefined,
    undefined,
  ]);
});

Deno.test("versions between which nothing has changed stand for one position", () => {
  const history = new VersionHistory();
  history.add("9", 1, false);
  history.add("15", 2, true);
  history.add("100", 3, true);
  assertEquals(["8", "9", "10", "16", "99", "100", "101"].map((it) => history.positionOf(it)), [
    undefined,
    1,
    1,
    1,
    1,
    1,
    undefined,
  ]);
});

Deno.test("versions without an order, such as those of several namespaces, are found only if they are equal", () => {
  const history = new VersionHistory();
  history.add("9~20", 1, false);
  history.add("9~22", 2, true);
  assertEquals(["9~20", "9~21", "9~22"].map((it) => history.positionOf(it)), [1, undefined, 2]);
});

Deno.test("the first of several positions with one version is found, as more follows it", () => {
  const history = new VersionHistory();
  history.add("9", 1, false);
  history.add("7", 2, false);
  history.add("9", 3, false);
  assertEquals(history.positionOf("9"), 1);
});

Deno.test("the last 1,000 states are remembered", () => {
  const history = new VersionHistory();
  for (let version = 1; version <= 1_500; version++) history.add(`${version}`, version, false);
  assertEquals([history.positionOf("500"), history.positionOf("501")], [undefined, 501]);
});
