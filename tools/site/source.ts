/**
 * Signatures and types of the reference: the source text of declarations, with links to the types that have a place.
 *
 * {@linkcode signatureAt} is the entry point. It knows where `deno doc --json` finds a declaration, and nothing of
 * pages.
 *
 * @module
 */
import ts from "npm:typescript@^6.0.3";

/** Where a declaration or a member begins; the first line is 0. */
export interface Location {
  readonly filename: string;
  readonly line: number;
  readonly col: number;
}

/** A parameter, as its call shows it. */
export interface ShownParameter {
  /** Its name; that of a parameter that is destructured is `value` or `options`. */
  readonly name: string;
  readonly type: string;
}

/** Returns the link of a name, if it has one. */
export type LinkOf = (name: string) => string | undefined;

/** A node, with the parts that some have. */
type Node = ts.Node & Partial<Pick<ts.CallSignatureDeclaration, "parameters" | "type">> & {
  readonly members?: ts.NodeArray<ts.Node>;
  readonly initializer?: ts.Expression;
};

const files = new Map<string, ts.SourceFile>();

function nodeAt({ filename, line, col }: Location): Node {
  const file = files.get(filename) ??
    ts.createSourceFile(filename, Deno.readTextFileSync(new URL(filename)), ts.ScriptTarget.Latest, true);
  files.set(filename, file);
  const at = file.getPositionOfLineAndCharacter(line, col);
  const find = (node: ts.Node): ts.Node | undefined =>
    ts.forEachChild(node, (it) => it.pos > at || it.end <= at ? undefined : it.getStart() === at ? it : find(it));
  const found = find(file);
  if (found === undefined) {
    throw new Error(`Cannot read the declaration at ${filename}:${line + 1}: nothing begins there.`);
  }
  return found;
}

/** Text on one line, without comments, and without the signs of lists over several lines. */
function plain(text: string): string {
  return text.replaceAll(/\/\*[^]*?\*\/|(?<=\s)\/\/.*/g, "").replaceAll(/\s+/g, " ")
    .replaceAll(/(?<=[([<]) |,? (?=[)\]>])|;(?= \})/g, "").replaceAll(/(?<=(?:^|[=:(<,]) ?)[|&] /g, "").trim();
}

/** Returns the type of a property, or what a call returns. A constant may have a value instead. */
export function typeAt(location: Location): string {
  const { type, initializer } = nodeAt(location);
  return plain((type ?? initializer)?.getText() ?? "");
}

/** Returns the parameters of a call. The name of one that can be left out ends with `?`. */
export function parametersAt(location: Location): ShownParameter[] {
  return (nodeAt(location).parameters ?? []).map((it, at) => {
    const name = ts.isIdentifier(it.name) ? it.name.text : at === 0 ? "value" : "options";
    const isOptional = it.questionToken !== undefined || it.initializer !== undefined;
    return {
      name: `${it.dotDotDotToken ? "..." : ""}${name}${isOptional ? "?" : ""}`,
      type: plain(it.type?.getText() ?? ""),
    };
  });
}

/** Returns a declaration without its body and its members. A long call has its parameters on lines of their own. */
export function signatureAt(location: Location, name: string): string {
  const node = nodeAt(location);
  const text = node.getSourceFile().text;
  const upTo = (end: number): string =>
    plain(text.slice(node.getStart(), end)).replaceAll(/^export |\b(?:async|override|declare) /g, "");
  if (ts.isVariableDeclaration(node)) return `const ${name}: ${typeAt(location)}`;
  if (node.parameters === undefined) {
    return upTo(node.members === undefined ? node.end : node.members.pos - 1).replace(/;$/, "");
  }
  const head = upTo(node.parameters.pos).replace(/^constructor/, `new ${name}`);
  const params = parametersAt(location).map(({ name, type }) => type === "" ? name : `${name}: ${type}`);
  const [close, result] = [head.endsWith("[") ? "]" : ")", typeAt(location)];
  const call = (inner: string): string => `${head}${inner}${close}${result && `: ${result}`}`;
  const short = call(params.join(", "));
  return short.length <= 100 ? short : call(params.map((it) => `\n  ${it},`).join("") + "\n");
}

/** Text as HTML in which Markdown, a table's cell, and a template of Vue find no sign of theirs. */
export function escape(text: string): string {
  return text.replaceAll(/[&<>|*_[\]`\\{}~"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

/** Code as HTML. Names of types, outside of quotes, have their links. */
export function linked(code: string, linkOf: LinkOf): string {
  return code.split(/("[^"]*"|\b[A-Z]\w*)/).map((part) => {
    const link = /^[A-Z]/.test(part) ? linkOf(part) : undefined;
    return link === undefined ? escape(part) : `<a href="${link}">${escape(part)}</a>`;
  }).join("");
}
