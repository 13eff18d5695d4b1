/**
 * Types and signatures of the reference as HTML, with links to the types that have a place there.
 *
 * {@linkcode typeText} and {@linkcode callText} are the entry points. They read what `deno doc --json` writes, and know
 * nothing of pages.
 *
 * @module
 */

/** A type. Its `value` depends on its kind. */
export interface Type {
  readonly kind: string;
  readonly repr?: string;
  readonly value?: unknown;
}

/** A type parameter of a declaration, or the name that a mapped or conditional type binds. */
export interface TypeParameter {
  readonly name: string;
  readonly constraint?: Type;
  readonly default?: Type;
}

/** A parameter. One with a default has the parameter on its left, and a rest parameter has it in `arg`. */
export interface Parameter {
  readonly kind: string;
  readonly name?: string;
  readonly optional?: boolean;
  readonly tsType?: Type;
  readonly left?: Parameter;
  readonly arg?: Parameter;
}

/** A docstring: its paragraphs, and its tags. */
export interface Docstring {
  readonly doc?: string;
  readonly tags?: readonly {
    readonly kind: string;
    readonly name?: string;
    readonly doc?: string;
    readonly value?: string;
    readonly tsType?: Type;
  }[];
}

/** The members of an interface, a class, or a type that is written in place. */
export interface Members {
  readonly properties?: readonly Member[];
  readonly methods?: readonly Member[];
  readonly callSignatures?: readonly Member[];
  readonly indexSignatures?: readonly Member[];
}

/** A function, a method, a property, or a signature; `returnType` or `tsType` is the type of its value. */
export interface Member {
  readonly name?: string;
  readonly kind?: string;
  readonly jsDoc?: Docstring;
  readonly params?: readonly Parameter[];
  readonly typeParams?: readonly TypeParameter[];
  readonly returnType?: Type;
  readonly tsType?: Type;
  readonly optional?: boolean;
  readonly readonly?: boolean;
  readonly isStatic?: boolean;
  readonly accessibility?: string;
  /** The parts of a method of a class. */
  readonly functionDef?: Member;
}

/** Returns the link of a name, if it has one. */
export type LinkOf = (name: string) => string | undefined;

/** The parts of types that have several. */
type Parts =
  & Readonly<Record<"typeName" | "operator" | "kind" | "string", string>>
  & Readonly<Record<"checkType" | "extendsType" | "trueType" | "falseType" | "objType" | "indexType", Type>>
  & {
    readonly tsType?: Type;
    readonly nameType?: Type;
    readonly typeParams?: readonly (Type & TypeParameter)[];
    readonly tsTypes: readonly Type[];
    readonly params: readonly Parameter[];
    readonly typeParam: TypeParameter;
    readonly readonly?: unknown;
    readonly optional?: unknown;
    readonly constructor: unknown;
  };

/** Text as HTML in which Markdown, a table's cell, and a template of Vue find no sign of theirs. */
export function escape(text: string): string {
  return text.replaceAll(/[&<>|*_[\]`\\{}~"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

/** The text of a type as HTML. */
export function typeText(type: Type, linkOf: LinkOf): string {
  const text = (type: Type): string => typeText(type, linkOf);
  const list = (types: unknown, between = ", "): string => (types as readonly Type[]).map(text).join(escape(between));
  const [value, parts, e] = [type.value as Type, type.value as Parts, escape];
  switch (type.kind) {
    case "typeRef": {
      const link = linkOf(parts.typeName);
      const name = link === undefined ? e(parts.typeName) : `<a href="${link}">${e(parts.typeName)}</a>`;
      return parts.typeParams === undefined ? name : `${name}${e("<")}${list(parts.typeParams)}${e(">")}`;
    }
    case "union":
      return list(value, " | ");
    case "intersection":
      return list(value, " & ");
    case "array":
      return text(value) + e("[]");
    case "tuple":
      return `${e("[")}${list(value)}${e("]")}`;
    case "typeOperator":
      return `${parts.operator} ${text(parts.tsType!)}`;
    case "parenthesized":
      return `(${text(value)})`;
    case "optional":
      return `${text(value)}?`;
    case "rest":
      return `...${text(value)}`;
    case "fnOrConstructor": {
      const call = { params: parts.params, typeParams: parts.typeParams };
      return `${parts.constructor === true ? "new " : ""}${callText(call, linkOf)} =${e(">")} ${text(parts.tsType!)}`;
    }
    case "conditional": {
      const { checkType, extendsType, trueType, falseType } = parts;
      return `${text(checkType)} extends ${text(extendsType)} ? ${text(trueType)} : ${text(falseType)}`;
    }
    case "indexedAccess":
      return `${text(parts.objType)}${e("[")}${text(parts.indexType)}${e("]")}`;
    case "infer":
      return `infer ${typeParameterText(parts.typeParam, linkOf)}`;
    case "mapped": {
      const { typeParam: { name, constraint }, nameType, readonly, optional, tsType } = parts;
      const as = nameType === undefined ? "" : ` as ${text(nameType)}`;
      const key = `${e("[")}${name} in ${text(constraint!)}${as}${e("]")}${optional ? "?" : ""}`;
      return `${e("{")} ${readonly ? "readonly " : ""}${key}: ${text(tsType!)} ${e("}")}`;
    }
    case "typeLiteral": {
      const members = membersIn(type.value as Members).map((member) => memberText(member, linkOf));
      return members.length === 0 ? e("{}") : `${e("{")} ${members.join("; ")} ${e("}")}`;
    }
    case "literal":
      if (parts.kind === "string") return e(JSON.stringify(parts.string));
      if (parts.kind !== "template") return e(type.repr ?? "");
      return e("`") + parts.tsTypes.map((part) => {
        const { kind, string } = (part.value ?? {}) as Parts;
        return kind === "string" ? e(string) : e("${") + text(part) + e("}");
      }).join("") + e("`");
    default:
      return e(type.repr ?? "");
  }
}

/** All members, in one list. */
export function membersIn({ properties, methods, callSignatures, indexSignatures }: Members): readonly Member[] {
  return [...callSignatures ?? [], ...indexSignatures ?? [], ...properties ?? [], ...methods ?? []];
}

/** A member with its type, such as `readonly name: string` or `get(key: string): T`. */
export function memberText(member: Member, linkOf: LinkOf): string {
  const { name = "", optional, functionDef, kind, tsType, returnType = tsType } = member;
  const call = functionDef ?? member;
  const head = `${member.isStatic ? "static " : ""}${member.readonly ? "readonly " : ""}`;
  if (name === "" && call.params?.length === 1 && call.typeParams === undefined && kind === undefined) {
    return `${head}${escape("[")}${parametersText(call, linkOf)}${escape("]")}: ${typeText(returnType!, linkOf)}`;
  }
  const results = functionDef?.returnType ?? returnType;
  const shown = `${head}${escape(name)}${optional ? "?" : ""}${
    call.params === undefined ? "" : callText(call, linkOf)
  }`;
  return results === undefined ? shown : `${shown}: ${typeText(results, linkOf)}`;
}

/** The type parameters and parameters of a call, which are on lines of their own when they are long. */
export function callText(call: Pick<Member, "params" | "typeParams">, linkOf: LinkOf, isLong = false): string {
  const [before, between, after] = isLong ? ["\n  ", ",\n  ", ",\n"] : ["", ", ", ""];
  const params = parametersText(call, linkOf, between);
  return `${typeParametersText(call.typeParams, linkOf)}(${params === "" ? "" : before + params + after})`;
}

function parametersText({ params = [] }: Pick<Member, "params">, linkOf: LinkOf, between = ", "): string {
  return params.map((parameter, at) => {
    const { name, optional, type } = readParameter(parameter, at);
    return `${name}${optional ? "?" : ""}${type === undefined ? "" : `: ${typeText(type, linkOf)}`}`;
  }).join(between);
}

/** The name, the type, and whether it can be left out. A parameter that is destructured has no name. */
export function readParameter(parameter: Parameter, at: number): { name: string; optional: boolean; type?: Type } {
  const { left, arg } = parameter;
  const { name, optional, tsType } = left ?? arg ?? parameter;
  return {
    name: `${arg === undefined ? "" : "..."}${escape(name ?? (at === 0 ? "value" : "options"))}`,
    optional: optional === true || left !== undefined,
    type: parameter.tsType ?? tsType,
  };
}

/** The type parameters between their angle brackets; empty if there are none. */
export function typeParametersText(parameters: readonly TypeParameter[] | undefined, linkOf: LinkOf): string {
  if (parameters === undefined || parameters.length === 0) return "";
  return `${escape("<")}${parameters.map((each) => typeParameterText(each, linkOf)).join(", ")}${escape(">")}`;
}

function typeParameterText({ name, constraint, default: otherwise }: TypeParameter, linkOf: LinkOf): string {
  const bound = constraint === undefined ? "" : ` extends ${typeText(constraint, linkOf)}`;
  return `${name}${bound}${otherwise === undefined ? "" : ` = ${typeText(otherwise, linkOf)}`}`;
}
