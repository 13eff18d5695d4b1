import ts from "npm:typescript@^6.0.3";

/** A statement that can be deleted from a source. */
export interface Statement {
  /** The line it begins on, counted from 1. */
  readonly line: number;
  /** Its text on one line, shortened. */
  readonly summary: string;
  /** The offset at which its text begins. */
  readonly start: number;
  /** The offset at which its text ends. */
  readonly end: number;
  /** The text that takes its place: a branch of an `if` leaves an empty statement behind. */
  readonly replacement: "" | ";";
  /** The function, method or other declaration of the top level or a class that it is in: its name and its text. */
  readonly owner: { readonly name: string; readonly text: string; readonly start: number };
}

const SUMMARY_LENGTH = 100;

/** The statements of a TypeScript source that can be deleted one at a time, in order: those within others as well. */
export function statementsIn(text: string): Statement[] {
  const source = ts.createSourceFile("source.ts", text, ts.ScriptTarget.Latest, true);
  const found: Statement[] = [];
  const visit = (node: ts.Node): void => {
    const replacement = replacementOf(node);
    if (replacement !== undefined) {
      const start = node.getStart(source);
      const { line } = source.getLineAndCharacterOfPosition(start);
      const summary = node.getText(source).replaceAll(/\s+/g, " ");
      found.push({
        line: line + 1,
        summary: summary.length > SUMMARY_LENGTH ? `${summary.slice(0, SUMMARY_LENGTH - 1)}…` : summary,
        start,
        end: node.getEnd(),
        replacement,
        owner: ownerOf(node, source),
      });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** The source without a statement; all other lines keep their numbers. */
export function without(text: string, { start, end, replacement }: Statement): string {
  const newlines = text.slice(start, end).replaceAll(/[^\n]/g, "");
  return text.slice(0, start) + replacement + newlines + text.slice(end);
}

/** The outermost declaration around a node, below the class that it is in. */
function ownerOf(node: ts.Node, source: ts.SourceFile): Statement["owner"] {
  let owner = node;
  while (!ts.isSourceFile(owner.parent) && !ts.isClassLike(owner.parent)) owner = owner.parent;
  const nameOf = (named: ts.Node): string => (named as ts.NamedDeclaration).name?.getText(source) ?? "";
  const className = ts.isClassLike(owner.parent) ? `${nameOf(owner.parent)}.` : "";
  const text = owner.getText(source);
  const own = text.replace(/^export /, "");
  return { name: className + nameOf(owner), text: own, start: owner.end - own.length };
}

/** The text that takes a node's place, `undefined` for nodes that are not deleted. */
function replacementOf(node: ts.Node): Statement["replacement"] | undefined {
  if (!ts.isStatement(node) || ts.isBlock(node) || ts.isEmptyStatement(node) || isDeclaration(node)) return undefined;
  const { parent } = node;
  if (ts.isSourceFile(parent) || ts.isBlock(parent) || ts.isCaseOrDefaultClause(parent)) return "";
  // Without its only branch an `if` does nothing: that is the deletion of the `if`. The same goes for a loop's body.
  return ts.isIfStatement(parent) && parent.elseStatement !== undefined ? ";" : undefined;
}

function isDeclaration(node: ts.Statement): boolean {
  if (ts.isVariableStatement(node)) return node.modifiers !== undefined; // exported, or declared
  return ts.isFunctionDeclaration(node) || ts.isClassDeclaration(node) || ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) || ts.isEnumDeclaration(node) || ts.isModuleDeclaration(node) ||
    ts.isImportDeclaration(node) || ts.isImportEqualsDeclaration(node) || ts.isExportDeclaration(node) ||
    ts.isExportAssignment(node);
}
