/** Prints `"waits"`, and ends by itself although idle work is pending, before its first step and between two steps. */
import { IdleTurns, inputArrived } from "../../../src/engine/async/idle_turns.ts";

let steps = 0;
const endless = (): boolean => {
  if (++steps > 1_000) throw new Error("Cannot end: idle work keeps the process alive");
  return true;
};
new IdleTurns(endless).wake();
const began = new IdleTurns(endless);
began.wake();
// It ends while each is armed: the second one has begun its steps by then.
const timer = setInterval(() => {
  if (steps === 0) return;
  clearInterval(timer);
  console.log("waits");
  inputArrived();
}, 50);
