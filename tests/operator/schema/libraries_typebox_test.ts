// Every type of TypeBox: what it becomes, what is lost, and what is refused.
import { Type as T } from "npm:typebox@1.4.3";
import { assertComplete, assertOutcomes, type Rows } from "./_library_outcomes.ts";

const ROWS: Rows = {
  "String": [() => T.String(), '{"type":"string"}'],
  "String options": [
    () => T.String({ minLength: 1, pattern: "^a$", format: "email" }),
    '{"format":"email","minLength":1,"pattern":"^a$","type":"string"}',
  ],
  "Number": [() => T.Number({ exclusiveMinimum: 0 }), '{"exclusiveMinimum":true,"minimum":0,"type":"number"}'],
  "Integer": [() => T.Integer({ minimum: 0, default: 1 }), '{"default":1,"minimum":0,"type":"integer"}'],
  "Boolean": [() => T.Boolean(), '{"type":"boolean"}'],
  "Null": [() => T.Null(), "refused: a.type"],
  "Literal": [() => T.Literal("x"), '{"enum":["x"],"type":"string"}'],
  "Literal number": [() => T.Literal(1), '{"enum":[1],"type":"number"}'],
  "Literal bigInt": [() => T.Literal(1n as never), "refused: a.type"],
  "BigInt": [() => T.BigInt(), "refused: a.type"],
  "Symbol": [() => T.Symbol(), "refused: a.type"],
  "Undefined": [() => T.Undefined(), "refused: a.type"],
  "Void": [() => T.Void(), "refused: a.type"],
  "Any": [() => T.Any(), '{"x-kubernetes-preserve-unknown-fields":true}'],
  "Unknown": [() => T.Unknown(), '{"x-kubernetes-preserve-unknown-fields":true}'],
  "Never": [() => T.Optional(T.Never()), "refused: a"],
  "Function": [() => T.Function([T.String()], T.String()), "refused: a"],
  "Constructor": [() => T.Constructor([T.String()], T.String()), "refused: a"],
  "Array": [() => T.Array(T.String(), { minItems: 1 }), '{"items":{"type":"string"},"minItems":1,"type":"array"}'],
  "Array unique": [
    () => T.Array(T.String(), { uniqueItems: true }),
    '{"items":{"type":"string"},"type":"array","x-kubernetes-list-type":"set"}',
  ],
  "Tuple": [() => T.Tuple([T.String()]), "refused: a"],
  "Object": [
    () => T.Object({ b: T.String() }),
    '{"properties":{"b":{"type":"string"}},"required":["b"],"type":"object"}',
  ],
  "Object closed": [
    () => T.Object({ b: T.String() }, { additionalProperties: false }),
    '{"properties":{"b":{"type":"string"}},"required":["b"],"type":"object"} − a: additionalProperties',
  ],
  "Optional": [() => T.Optional(T.String()), '{"type":"string"}'],
  "Readonly": [() => T.Readonly(T.String()), '{"type":"string"}'],
  "Immutable": [() => T.Immutable(T.Array(T.String())), '{"items":{"type":"string"},"type":"array"}'],
  "Record": [() => T.Record(T.String(), T.Number()), '{"additionalProperties":{"type":"number"},"type":"object"}'],
  "Record closed": [
    () => T.Record(T.String(), T.Number(), { additionalProperties: false }),
    '{"additionalProperties":{"type":"number"},"type":"object"}',
  ],
  "Record integer": [() => T.Record(T.Integer(), T.Number()), "refused: a"],
  "RecordPattern": [() => T.Record(T.String({ pattern: "^a" }), T.Number()), "refused: a"],
  "Record keys": [
    () => T.Record(T.Union([T.Literal("x"), T.Literal("y")]), T.Number()),
    '{"properties":{"x":{"type":"number"},"y":{"type":"number"}},"required":["x","y"],"type":"object"}',
  ],
  "Union": [() => T.Union([T.String(), T.Number()]), "refused: a"],
  "Union integer": [() => T.Union([T.String(), T.Integer()]), '{"x-kubernetes-int-or-string":true}'],
  "Union null": [() => T.Union([T.String(), T.Null()]), '{"nullable":true,"type":"string"}'],
  "Union literals": [() => T.Union([T.Literal("x"), T.Literal("y")]), '{"enum":["x","y"],"type":"string"}'],
  "Union objects": [() => T.Union([T.Object({ t: T.Literal("p") }), T.Object({ t: T.Literal("q") })]), "refused: a"],
  "Intersect": [() => T.Intersect([T.Object({ b: T.String() }), T.Object({ c: T.String() })]), "refused: a"],
  "Evaluate": [
    () => T.Evaluate(T.Intersect([T.Object({ b: T.String() }), T.Object({ c: T.String() })])),
    '{"properties":{"b":{"type":"string"},"c":{"type":"string"}},"required":["b","c"],"type":"object"}',
  ],
  "Enum": [() => T.Enum({ A: 1, B: 2 }), '{"enum":[1,2],"type":"integer"}'],
  "Enum strings": [() => T.Enum(["x", "y"]), '{"enum":["x","y"],"type":"string"}'],
  "TemplateLiteral": [() => T.TemplateLiteral("v${string}"), '{"pattern":"^v.*$","type":"string"}'],
  "Dependent": [
    () => T.Dependent(T.Object({ a: T.String() }), T.Object({ b: T.String() }), T.Object({ c: T.String() })),
    "refused: a",
  ],
  "Cyclic": [
    () => T.Cyclic({ N: T.Object({ name: T.String(), kids: T.Array(T.Ref("N")) }) }, "N"),
    "refused: a.kids[]",
  ],
  "Cyclic flat": [
    () => T.Cyclic({ N: T.Object({ name: T.Ref("S") }), S: T.String({ minLength: 2 }) }, "N"),
    '{"properties":{"name":{"minLength":2,"type":"string"}},"required":["name"],"type":"object"}',
  ],
  "Ref": [() => T.Ref("N"), "refused: a"],
  "This": [() => T.This(), "refused: a"],
  "Module": [
    () => T.Module({ A: T.Object({ b: T.Ref("B") }), B: T.String() }).A,
    '{"properties":{"b":{"type":"string"}},"required":["b"],"type":"object"}',
  ],
  "Unsafe": [() => T.Unsafe({ type: "string", minLength: 1 }), '{"minLength":1,"type":"string"}'],
  "Unsafe keyword": [() => T.Unsafe({ type: "string", foo: 1 }), "refused: a"],
  "Script": [
    () => T.Script("{ b: string, c?: number }"),
    '{"properties":{"b":{"type":"string"},"c":{"type":"number"}},"required":["b"],"type":"object"}',
  ],
  "Refine": [() => T.Refine(T.String(), (it) => it !== "x"), '{"type":"string"} − a: Refine'],
  "Array RefineItems": [
    () => T.Array(T.Refine(T.String(), () => true)),
    '{"items":{"type":"string"},"type":"array"} − a[]: Refine',
  ],
  "Optional RefineOptional": [() => T.Optional(T.Refine(T.String(), () => true)), '{"type":"string"} − a: Refine'],
  "Union RefineUnion": [
    () => T.Union([T.Refine(T.String({ minLength: 1 }), () => true), T.String({ maxLength: 0 })]),
    '{"anyOf":[{"minLength":1},{"maxLength":0}],"type":"string"} − a: Refine',
  ],
  "Codec": [() => T.Codec(T.String()).Decode((it) => it.length).Encode(String), "refused: a"],
  "Decode": [() => T.Decode(T.String(), (it) => it.length), "refused: a"],
  "Encode": [() => T.Encode(T.String(), (it: unknown) => String(it)), "refused: a"],
  "Partial": [() => T.Partial(T.Object({ b: T.String() })), '{"properties":{"b":{"type":"string"}},"type":"object"}'],
  "Required": [
    () => T.Required(T.Object({ b: T.Optional(T.String()) })),
    '{"properties":{"b":{"type":"string"}},"required":["b"],"type":"object"}',
  ],
  "Pick": [
    () => T.Pick(T.Object({ b: T.String(), c: T.String() }), ["b"]),
    '{"properties":{"b":{"type":"string"}},"required":["b"],"type":"object"}',
  ],
  "KeyOf": [() => T.KeyOf(T.Object({ b: T.String(), c: T.String() })), '{"enum":["b","c"],"type":"string"}'],
  "Capitalize": [() => T.Capitalize(T.Literal("x")), '{"enum":["X"],"type":"string"}'],
  "Index": [() => T.Index(T.Object({ b: T.String() }), ["b"]), '{"type":"string"}'],
  "With": [() => T.With(T.String(), { minLength: 1 }), '{"minLength":1,"type":"string"}'],
  "Identifier": [() => T.Identifier("x"), "refused: a"],
  "Parameter": [() => T.Parameter("x"), "refused: a"],
};

Deno.test("each type of TypeBox is kept, refused with its path, or named in changes", () => {
  assertOutcomes(ROWS, (a) => T.Object({ a: a as T.TSchema }));
});

/** Functions of types, which make the types above. */
const OTHERS = "Call Conditional ConstructorParameters DecodeBuilder EncodeBuilder Exclude Extends ExtendsResult " +
  "Extract Generic Infer InstanceType Instantiate Interface Lowercase Mapped NonNullable Omit Parameters " +
  "ReadonlyObject ReadonlyType RecordKey RecordValue Rest ReturnType Uncapitalize Uppercase";

Deno.test("the table has all types of TypeBox", () => {
  assertComplete(ROWS, Object.keys(T).filter((name) => !name.startsWith("Is")), OTHERS);
});
