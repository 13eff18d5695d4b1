/**
 * Inputs and results of the tests of Kubernetes' quantities, k8s.io/apimachinery, `pkg/api/resource/quantity_test.go`.
 *
 * Copyright 2014 The Kubernetes Authors. Licensed under the Apache License, Version 2.0; you may obtain a copy at
 * http://www.apache.org/licenses/LICENSE-2.0. The tables are carried over as data.
 *
 * A value is an integer and the power of ten that it is multiplied by.
 *
 * @module
 */
import type { QuantityFormat } from "../../../src/engine/api/quantity.ts";

/** An integer, a power of ten, and the suffixes. */
export type Value = readonly [bigint, number, QuantityFormat];

/** TestQuantityParse: a text, and its value. */
// deno-fmt-ignore
export const PARSED: readonly (readonly [string, Value])[] = [
  ["0", [0n, 0, "DecimalSI"]], ["0n", [0n, 0, "DecimalSI"]], ["0u", [0n, 0, "DecimalSI"]], ["0m", [0n, 0, "DecimalSI"]],
  ["0Ki", [0n, 0, "BinarySI"]], ["0k", [0n, 0, "DecimalSI"]], ["0Mi", [0n, 0, "BinarySI"]],
  ["0M", [0n, 0, "DecimalSI"]], ["0Gi", [0n, 0, "BinarySI"]], ["0G", [0n, 0, "DecimalSI"]],
  ["0Ti", [0n, 0, "BinarySI"]], ["0T", [0n, 0, "DecimalSI"]], ["1", [1n, 0, "DecimalSI"]],
  ["1Ki", [1024n, 0, "BinarySI"]], ["8Ki", [8192n, 0, "BinarySI"]], ["7Mi", [7340032n, 0, "BinarySI"]],
  ["6Gi", [6442450944n, 0, "BinarySI"]], ["5Ti", [5497558138880n, 0, "BinarySI"]],
  ["4Pi", [4503599627370496n, 0, "BinarySI"]], ["3Ei", [3458764513820540928n, 0, "BinarySI"]],
  ["10Ti", [10995116277760n, 0, "BinarySI"]], ["100Ti", [109951162777600n, 0, "BinarySI"]],
  ["5n", [5n, -9, "DecimalSI"]], ["4u", [4n, -6, "DecimalSI"]], ["3m", [3n, -3, "DecimalSI"]],
  ["9", [9n, 0, "DecimalSI"]], ["8k", [8n, 3, "DecimalSI"]], ["50k", [5n, 4, "DecimalSI"]],
  ["7M", [7n, 6, "DecimalSI"]], ["6G", [6n, 9, "DecimalSI"]], ["5T", [5n, 12, "DecimalSI"]],
  ["40T", [4n, 13, "DecimalSI"]], ["300T", [3n, 14, "DecimalSI"]], ["2P", [2n, 15, "DecimalSI"]],
  ["1E", [1n, 18, "DecimalSI"]], ["1E-3", [1n, -3, "DecimalExponent"]], ["1e3", [1n, 3, "DecimalExponent"]],
  ["1E6", [1n, 6, "DecimalExponent"]], ["1e9", [1n, 9, "DecimalExponent"]], ["1E12", [1n, 12, "DecimalExponent"]],
  ["1e15", [1n, 15, "DecimalExponent"]], ["1E18", [1n, 18, "DecimalExponent"]], ["1e14", [1n, 14, "DecimalExponent"]],
  ["1e13", [1n, 13, "DecimalExponent"]], ["1e3", [1n, 3, "DecimalExponent"]], ["100.035k", [100035n, 0, "DecimalSI"]],
  ["0.001", [1n, -3, "DecimalSI"]], ["0.0005k", [5n, -1, "DecimalSI"]], ["0.005", [5n, -3, "DecimalSI"]],
  ["0.05", [5n, -2, "DecimalSI"]], ["0.5", [5n, -1, "DecimalSI"]], ["0.00050k", [5n, -1, "DecimalSI"]],
  ["0.00500", [5n, -3, "DecimalSI"]], ["0.05000", [5n, -2, "DecimalSI"]], ["0.50000", [5n, -1, "DecimalSI"]],
  ["0.5e0", [5n, -1, "DecimalExponent"]], ["0.5e-1", [5n, -2, "DecimalExponent"]],
  ["0.5e-2", [5n, -3, "DecimalExponent"]], ["0.5e0", [5n, -1, "DecimalExponent"]],
  ["10.035M", [10035n, 3, "DecimalSI"]], ["1.2e3", [12n, 2, "DecimalExponent"]],
  ["1.3E+6", [13n, 5, "DecimalExponent"]], ["1.40e9", [14n, 8, "DecimalExponent"]],
  ["1.53E12", [153n, 10, "DecimalExponent"]], ["1.6e15", [16n, 14, "DecimalExponent"]],
  ["1.7E18", [17n, 17, "DecimalExponent"]], ["9.01", [901n, -2, "DecimalSI"]], ["8.1k", [81n, 2, "DecimalSI"]],
  ["7.123456M", [7123456n, 0, "DecimalSI"]], ["6.987654321G", [6987654321n, 0, "DecimalSI"]],
  ["5.444T", [5444n, 9, "DecimalSI"]], ["40.1T", [401n, 11, "DecimalSI"]], ["300.2T", [3002n, 11, "DecimalSI"]],
  ["2.5P", [25n, 14, "DecimalSI"]], ["1.01E", [101n, 16, "DecimalSI"]], ["3.001n", [4n, -9, "DecimalSI"]],
  ["1.1E-9", [2n, -9, "DecimalExponent"]], ["0.0000000001", [1n, -9, "DecimalSI"]],
  ["0.0000000005", [1n, -9, "DecimalSI"]], ["0.00000000050", [1n, -9, "DecimalSI"]],
  ["0.5e-9", [1n, -9, "DecimalExponent"]], ["0.9n", [1n, -9, "DecimalSI"]], ["0.00000012345", [124n, -9, "DecimalSI"]],
  ["0.00000012354", [124n, -9, "DecimalSI"]], ["9Ei", [9223372036854775807n, 0, "BinarySI"]],
  ["9223372036854775807Ki", [9223372036854775807n, 0, "BinarySI"]], ["12E", [12n, 18, "DecimalSI"]],
  ["100.035Ki", [10243584n, -2, "BinarySI"]], ["0.5Mi", [524288n, 0, "BinarySI"]],
  ["0.05Gi", [536870912n, -1, "BinarySI"]], ["0.025Ti", [274877906944n, -1, "BinarySI"]],
  ["0.000000000001Ki", [2n, -9, "DecimalSI"]], [".001", [1n, -3, "DecimalSI"]], [".0001k", [100n, -3, "DecimalSI"]],
  ["1.", [1n, 0, "DecimalSI"]], ["1.G", [1n, 9, "DecimalSI"]],
];

/** TestQuantityParse: texts that are no quantities. */
// deno-fmt-ignore
export const REFUSED: readonly string[] = [
  "", "1.1.M", "1+1.0M", "0.1mi", "0.1am", "aoeu", ".5i", "1i", "-3.01i", "-3.01e-", " 1", "1 ",
];

/** TestQuantityString: a value, its canonical form, and another text of it or nothing. */
// deno-fmt-ignore
export const PRINTED: readonly (readonly [Value, string, string])[] = [
  [[1073741824n, 0, "BinarySI"], "1Gi", "1024Mi"], [[314572800n, 0, "BinarySI"], "300Mi", "307200Ki"],
  [[6144n, 0, "BinarySI"], "6Ki", ""], [[1074815565824n, 0, "BinarySI"], "1001Gi", "1025024Mi"],
  [[1099511627776n, 0, "BinarySI"], "1Ti", "1024Gi"], [[5n, 0, "BinarySI"], "5", "5000m"],
  [[500n, -3, "BinarySI"], "500m", "0.5"], [[1n, 9, "DecimalSI"], "1G", "1000M"],
  [[1000n, 6, "DecimalSI"], "1G", "0.001T"], [[1000000n, 3, "DecimalSI"], "1G", ""],
  [[1000000000n, 0, "DecimalSI"], "1G", ""], [[1n, -3, "DecimalSI"], "1m", "1000u"],
  [[80n, -3, "DecimalSI"], "80m", ""], [[1080n, -3, "DecimalSI"], "1080m", "1.08"],
  [[108n, -2, "DecimalSI"], "1080m", "1080000000n"], [[10800n, -4, "DecimalSI"], "1080m", ""],
  [[300n, 6, "DecimalSI"], "300M", ""], [[1n, 12, "DecimalSI"], "1T", ""], [[1234567n, 6, "DecimalSI"], "1234567M", ""],
  [[1234567n, -3, "BinarySI"], "1234567m", ""], [[3n, 3, "DecimalSI"], "3k", ""], [[1025n, 0, "BinarySI"], "1025", ""],
  [[0n, 0, "DecimalSI"], "0", ""], [[0n, 0, "BinarySI"], "0", ""], [[1n, 9, "DecimalExponent"], "1e9", ".001e12"],
  [[1n, -3, "DecimalExponent"], "1e-3", "0.001e0"], [[1n, -9, "DecimalExponent"], "1e-9", "1000e-12"],
  [[80n, -3, "DecimalExponent"], "80e-3", ""], [[300n, 6, "DecimalExponent"], "300e6", ""],
  [[1n, 12, "DecimalExponent"], "1e12", ""], [[1n, 3, "DecimalExponent"], "1e3", ""],
  [[3n, 3, "DecimalExponent"], "3e3", ""], [[3n, 3, "DecimalSI"], "3k", ""], [[0n, 0, "DecimalExponent"], "0", "00"],
  [[1n, -9, "DecimalSI"], "1n", ""], [[80n, -9, "DecimalSI"], "80n", ""], [[1080n, -9, "DecimalSI"], "1080n", ""],
  [[108n, -8, "DecimalSI"], "1080n", ""], [[10800n, -10, "DecimalSI"], "1080n", ""], [[1n, -6, "DecimalSI"], "1u", ""],
  [[80n, -6, "DecimalSI"], "80u", ""], [[1080n, -6, "DecimalSI"], "1080u", ""],
];

/** TestQuantityParseEmit: a text and the canonical form of its value. */
// deno-fmt-ignore
export const REPRINTED: readonly (readonly [string, string])[] = [
  ["1Ki", "1Ki"], ["1Mi", "1Mi"], ["1Gi", "1Gi"], ["1024Mi", "1Gi"], ["1000M", "1G"], [".001Ki", "1024m"],
  [".000001Ki", "1024u"], [".000000001Ki", "1024n"], [".000000000001Ki", "2n"],
];

/** TestQuantityRoundUp: a text, a power of ten, and the value rounded to a multiple of that power. */
// deno-fmt-ignore
export const ROUNDED: readonly (readonly [string, number, bigint, number])[] = [
  ["9.01", -3, 901n, -2], ["9.01", -2, 901n, -2], ["9.01", -1, 91n, -1], ["9.01", 0, 10n, 0], ["9.01", 1, 10n, 0],
  ["9.01", 2, 100n, 0], ["-9.01", -3, -901n, -2], ["-9.01", -2, -901n, -2], ["-9.01", -1, -91n, -1],
  ["-9.01", 0, -10n, 0], ["-9.01", 1, -10n, 0], ["-9.01", 2, -100n, 0],
];

/** TestQuantityCmp: two texts and their order. */
// deno-fmt-ignore
export const COMPARED_TEXTS: readonly (readonly [string, string, number])[] = [
  ["0", "0", 0], ["100m", "50m", 1], ["50m", "100m", -1], ["10000T", "100Gi", 1],
];

/** TestQuantityCmpInt64AndDec: two values and their order. */
// deno-fmt-ignore
export const COMPARED: readonly (readonly [bigint, number, bigint, number, number])[] = [
  [901n, -2, 901n, -2, 0], [90n, -1, 901n, -2, -1], [901n, -2, 900n, -2, 1], [0n, 0, 0n, 0, 0], [0n, 1, 0n, -1, 0],
  [0n, -1, 0n, 1, 0], [800n, -3, 1n, 0, -1], [800n, -3, 79n, -2, 1], [9223372036854775807n, 0, 1n, -1, 1],
  [9223372036854775807n, 1, 1n, 0, 1], [9223372036854775807n, 1, 1n, 1, 1], [9223372036854775807n, 1, 0n, 1, 1],
  [9223372036854775807n, -16, 1n, 3, -1], [-9223372036854775808n, 0, 0n, 0, -1],
  [-9223372036854775808n, -18, -1n, 0, -1], [-9223372036854775808n, -19, -1n, 0, 1],
  [1000000000000000000n, -17, 1n, 1, 0], [1000000000000000000n, -17, -10n, 0, 1],
  [-1000000000000000000n, -17, -10n, 0, 0], [1000000000000000000n, -17, 1n, 0, 1],
  [1000000000000000001n, -17, 1n, 1, 1], [999999999999999999n, -17, 1n, 1, -1],
];

/** TestScaledValue: the value 10^first, in units of 10^second. */
// deno-fmt-ignore
export const SCALED: readonly (readonly [number, number, bigint])[] = [
  [-9, -9, 1n], [-9, -6, 1n], [-9, -3, 1n], [-9, 0, 1n], [-6, -9, 1000n], [-6, -6, 1n], [-6, -3, 1n], [-6, 0, 1n],
  [-3, -9, 1000000n], [-3, -6, 1000n], [-3, -3, 1n], [-3, 0, 1n], [0, -9, 1000000000n], [0, -6, 1000000n],
  [0, -3, 1000n], [0, 0, 1n], [2, -2, 10000n],
];

/** TestAdd: two values and their sum. */
// deno-fmt-ignore
export const SUMS: readonly (readonly [Value, Value, Value])[] = [
  [[10n, 0, "DecimalSI"], [1n, 1, "DecimalSI"], [20n, 0, "DecimalSI"]],
  [[10n, 0, "DecimalSI"], [1n, 0, "BinarySI"], [11n, 0, "DecimalSI"]],
  [[10n, 0, "BinarySI"], [1n, 0, "DecimalSI"], [11n, 0, "BinarySI"]],
  [[0n, 0, "DecimalSI"], [50n, 0, "DecimalSI"], [50n, 0, "DecimalSI"]],
  [[50n, 0, "DecimalSI"], [0n, 0, "DecimalSI"], [50n, 0, "DecimalSI"]],
  [[0n, 0, "DecimalSI"], [0n, 0, "DecimalSI"], [0n, 0, "DecimalSI"]],
];

/** TestSub: two values and their difference. */
// deno-fmt-ignore
export const DIFFERENCES: readonly (readonly [Value, Value, Value])[] = [
  [[10n, 0, "DecimalSI"], [1n, 1, "DecimalSI"], [0n, 0, "DecimalSI"]],
  [[10n, 0, "DecimalSI"], [1n, 0, "BinarySI"], [9n, 0, "DecimalSI"]],
  [[10n, 0, "BinarySI"], [1n, 0, "DecimalSI"], [9n, 0, "BinarySI"]],
  [[0n, 0, "DecimalSI"], [50n, 0, "DecimalSI"], [-50n, 0, "DecimalSI"]],
  [[50n, 0, "DecimalSI"], [0n, 0, "DecimalSI"], [50n, 0, "DecimalSI"]],
  [[0n, 0, "DecimalSI"], [0n, 0, "DecimalSI"], [0n, 0, "DecimalSI"]],
];

/** TestQuantityAsFloat64Slow: a value and the nearest number. */
// deno-fmt-ignore
export const NUMBERS: readonly (readonly [Value, number])[] = [
  [[0n, 0, "DecimalSI"], 0.0], [[0n, 0, "DecimalExponent"], 0.0], [[0n, 0, "BinarySI"], 0.0], [[1n, 0, "DecimalSI"], 1],
  [[1n, 0, "DecimalExponent"], 1], [[1n, 0, "BinarySI"], 1], [[1024n, 0, "BinarySI"], 1024],
  [[8192n, 0, "BinarySI"], 8192], [[7340032n, 0, "BinarySI"], 7340032], [[7340032n, 1, "BinarySI"], 73400320],
  [[7340032n, 4, "BinarySI"], 73400320000], [[7340032n, 8, "BinarySI"], 734003200000000],
  [[7340032n, -1, "BinarySI"], 734003.2], [[7340032n, -8, "BinarySI"], 0.07340032], [[1024n, 0, "DecimalSI"], 1024],
  [[8192n, 0, "DecimalSI"], 8192], [[7340032n, 0, "DecimalSI"], 7340032], [[7340032n, 1, "DecimalSI"], 73400320],
  [[7340032n, 4, "DecimalSI"], 73400320000], [[7340032n, 8, "DecimalSI"], 734003200000000],
  [[7340032n, -1, "DecimalSI"], 734003.2], [[7340032n, -8, "DecimalSI"], 0.07340032],
  [[1024n, 0, "DecimalExponent"], 1024], [[8192n, 0, "DecimalExponent"], 8192],
  [[7340032n, 0, "DecimalExponent"], 7340032], [[7340032n, 1, "DecimalExponent"], 73400320],
  [[7340032n, 4, "DecimalExponent"], 73400320000], [[7340032n, 8, "DecimalExponent"], 734003200000000],
  [[7340032n, -1, "DecimalExponent"], 734003.2], [[7340032n, -8, "DecimalExponent"], 0.07340032],
  [[12n, 18, "DecimalSI"], 1.2e+19], [[12n, 500, "DecimalSI"], Infinity], [[-12n, 500, "DecimalSI"], -Infinity],
];
