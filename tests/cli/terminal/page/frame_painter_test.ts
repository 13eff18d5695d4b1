import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { FramePainter } from "../../../../src/cli/terminal/page/frame_painter.ts";
import { ShownScreen } from "../../../support/shown_screen.ts";

const size = { columns: 10, rows: 3 };

Deno.test("FramePainter writes changed rows only", () => {
  const painter = new FramePainter();
  const screen = new ShownScreen();
  screen.write(painter.paint(["a", "b", "c"], size));
  assertEquals([screen.rows, screen.written], [["a", "b", "c"], [1, 2, 3]]);
  assertEquals(painter.paint(["a", "b", "c"], size), "");
  assertEquals(painter.paint(["a", "B", "c"], size), "\x1b[2;1HB\x1b[K");
  assertEquals(painter.paint(["a", "0123456789 too long", "c", "too far"], size), "\x1b[2;1H0123456789");
});

Deno.test("FramePainter draws all rows anew after a change of the size", () => {
  const painter = new FramePainter();
  painter.paint(["a", "b", "c"], size);
  assertEquals(
    painter.paint(["a", "b", "c"], { columns: 10, rows: 2 }),
    "\x1b[H\x1b[2J\x1b[1;1Ha\x1b[K\x1b[2;1Hb\x1b[K",
  );
});

Deno.test("FramePainter shows each frame, whatever was shown before", () => {
  const frames = fc.array(fc.record({
    lines: fc.array(fc.stringMatching(/^[a-c]{0,6}$/), { maxLength: 6 }),
    size: fc.constantFrom(size, { columns: 4, rows: 5 }),
  }));
  fc.assert(fc.property(frames, (frames) => {
    const painter = new FramePainter();
    const screen = new ShownScreen();
    for (const { lines, size } of frames) {
      screen.write(painter.paint(lines, size));
      const expected = lines.slice(0, size.rows).map((line) => line.slice(0, size.columns));
      const shown = Array.from({ length: size.rows }, (_, row) => screen.rows[row] ?? "");
      assertEquals(shown, Array.from(shown, (_, row) => expected[row] ?? ""));
    }
  }));
});
