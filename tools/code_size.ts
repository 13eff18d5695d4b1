/**
 * Measures the code of a tree: lines by kind, exports by their users, and internal interfaces of options.
 *
 * @module
 */
import { dirname, join, normalize, relative } from "node:path/posix";
import ts from "npm:typescript@^6.0.3";

/** A source file, with its path relative to the root. */
export interface SourceText {
  readonly path: string;
  readonly text: string;
}

/** The lines of a text: with code, with comments alone, and empty. */
export interface LineCounts {
  readonly code: number;
  readonly comment: number;
  readonly blank: number;
}

/** A name that a file declares at its top level. */
export interface Declaration {
  readonly name: string;
  readonly isExported: boolean;
  /** Set for an interface: the number of its members, and of those that are called. */
  readonly members?: { readonly all: number; readonly callbacks: number };
}

/** A declared name, and the other files that import it, re-exports followed. */
export interface NameUse extends Declaration {
  readonly path: string;
  readonly users: readonly string[];
}

/** Returns the regular expressions of a text that repeat a group: their time may rise with the square of an input. */
export function repeatedGroups({ path, text }: SourceText): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      // Neither escapes nor sets of characters have groups.
      const pattern = node.text.replace(/\\./g, "x").replace(/\[[^\]]*\]/g, "x");
      if (/\)(?:[*+]|\{\d*,)/.test(pattern)) found.push(node.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, false));
  return found;
}

/** Counts what the compiler takes on trust: casts (`as`, but for `as const`), and `!` behind a value. */
export function trusted({ path, text }: SourceText): { readonly casts: number; readonly assertions: number } {
  let [casts, assertions] = [0, 0];
  const visit = (node: ts.Node): void => {
    if (ts.isAsExpression(node) && !ts.isConstTypeReference(node.type)) casts++;
    if (ts.isNonNullExpression(node)) assertions++;
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, false));
  return { casts, assertions };
}

/** Calls `visit` for each token of a text, in order; comments are none. */
function forEachToken(source: ts.SourceFile, visit: (token: ts.Node) => void): void {
  const walk = (node: ts.Node): void => {
    if (ts.isJSDoc(node)) return;
    const children = node.getChildren(source);
    if (children.length > 0) children.forEach(walk);
    else if (node.getWidth(source) > 0) visit(node);
  };
  walk(source);
}

/** The tokens of a text, a line each: without comments, and however it is formatted. */
export function codeOf({ path, text }: SourceText): string {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, false);
  const tokens: string[] = [];
  forEachToken(source, (token) => tokens.push(token.getText(source)));
  // The formatter adds these, and breaks lines before the others.
  return tokens.filter((token, i) => token !== "," || !/^[)\]}>]$/.test(tokens[i + 1] ?? "")).join("\n");
}

/** How files differ in more than comments and format: new ones, files that are gone, and files whose code changed. */
export function codeChanges(before: readonly SourceText[], after: readonly SourceText[]): string[] {
  const old = new Map(before.map((source) => [source.path, source]));
  const changes = after.flatMap((source) => {
    const known = old.get(source.path);
    old.delete(source.path);
    if (known === undefined) return [`${source.path} is new`];
    return known.text === source.text || codeOf(known) === codeOf(source) ? [] : [`${source.path} has changed`];
  });
  return [...changes, ...[...old.keys()].map((path) => `${path} is gone`)].sort();
}

/** Counts the lines of a text by its tokens; a line with code and a comment is code. */
export function countLines({ path, text }: SourceText): LineCounts {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, false);
  const lines = text.replace(/\n$/, "").split("\n");
  const hasCode = new Set<number>();
  forEachToken(source, (token) => {
    const last = source.getLineAndCharacterOfPosition(token.end - 1).line;
    for (let line = source.getLineAndCharacterOfPosition(token.getStart(source)).line; line <= last; line++) {
      hasCode.add(line);
    }
  });
  const blank = lines.filter((line, i) => line.trim() === "" && !hasCode.has(i)).length;
  return { code: hasCode.size, comment: lines.length - hasCode.size - blank, blank };
}

/** The functions of a text that have more than `most` lines, from the name to the closing brace. */
export function longFunctions({ path, text }: SourceText, most: number): { name: string; lines: number }[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true);
  const lineAt = (position: number): number => source.getLineAndCharacterOfPosition(position).line;
  const found: { name: string; lines: number }[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && "body" in node && node.body !== undefined) {
      const lines = lineAt(node.end) - lineAt(node.getStart(source)) + 1;
      const named = node.name ?? (ts.isVariableDeclaration(node.parent) ? node.parent.name : undefined);
      if (lines > most) found.push({ name: named?.getText(source) ?? "a function without a name", lines });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** The names that each file declares, with their users among `sources`. */
export function nameUses(sources: readonly SourceText[]): NameUse[] {
  const files = new Map(sources.map(({ path, text }) => {
    return [path, ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, false)] as const;
  }));
  const declared = new Map<string, Declaration & { readonly path: string; readonly users: Set<string> }>();
  for (const [path, source] of files) {
    for (const statement of source.statements) {
      for (const declaration of declarations(statement)) {
        const key = `${path} ${declaration.name}`;
        if (!declared.has(key)) declared.set(key, { ...declaration, path, users: new Set() }); // overloads are one
      }
    }
  }
  for (const [path, source] of files) {
    for (const { from, names } of importedNames(source)) {
      const target = normalize(join(dirname(path), from));
      for (const name of names) {
        const found = origin(files, target, name);
        if (found !== undefined && found !== path) declared.get(`${found} ${name}`)?.users.add(path);
      }
    }
  }
  return [...declared.values()].map((it) => ({ ...it, users: [...it.users].sort() }));
}

/** Exports that are not public, and that at most one other file uses, of the same folder of `src`. */
export function usedByANeighbour(uses: readonly NameUse[], publicNames: ReadonlySet<string>): NameUse[] {
  return uses.filter(({ name, isExported, path, users }) =>
    isExported && !publicNames.has(name) && users.length <= 1 && users.every((user) => folder(user) === folder(path))
  );
}

/** Interfaces of options or of a context that are not public, and that at most one other file fills in. */
export function internalOptions(uses: readonly NameUse[], publicNames: ReadonlySet<string>): NameUse[] {
  return uses.filter(({ name, users, members }) =>
    members !== undefined && !publicNames.has(name) && users.length <= 1 && /(?:Options|Context)$/.test(name)
  );
}

/** The first two parts of a path below the root: `src/engine/api`. */
function folder(path: string): string {
  return path.split("/").slice(0, 2).join("/");
}

function declarations(statement: ts.Statement): Declaration[] {
  const modifiers = ts.canHaveModifiers(statement) ? ts.getModifiers(statement) : undefined;
  const isExported = modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false;
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.flatMap(({ name }) => {
      return ts.isIdentifier(name) ? [{ name: name.text, isExported }] : [];
    });
  }
  if (ts.isInterfaceDeclaration(statement)) {
    const callbacks = statement.members.filter((member) =>
      ts.isMethodSignature(member) ||
      (ts.isPropertySignature(member) && member.type !== undefined && ts.isFunctionTypeNode(member.type))
    ).length;
    return [{ name: statement.name.text, isExported, members: { all: statement.members.length, callbacks } }];
  }
  if (
    !ts.isClassDeclaration(statement) && !ts.isFunctionDeclaration(statement) && !ts.isTypeAliasDeclaration(statement)
  ) {
    return [];
  }
  return statement.name === undefined ? [] : [{ name: statement.name.text, isExported }];
}

function importedNames(source: ts.SourceFile): { readonly from: string; readonly names: readonly string[] }[] {
  return source.statements.flatMap((statement) => {
    if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier)) return [];
    const bindings = statement.importClause?.namedBindings;
    if (bindings === undefined || !ts.isNamedImports(bindings)) return [];
    const names = bindings.elements.map(({ name, propertyName }) => (propertyName ?? name).text);
    return [{ from: statement.moduleSpecifier.text, names }];
  });
}

/** The file that declares what `path` exports by this name, directly or from another file. */
function origin(files: ReadonlyMap<string, ts.SourceFile>, path: string, name: string): string | undefined {
  const source = files.get(path);
  if (source === undefined) return undefined;
  if (source.statements.flatMap(declarations).some((it) => it.isExported && it.name === name)) return path;
  for (const statement of source.statements) {
    if (!ts.isExportDeclaration(statement) || statement.moduleSpecifier === undefined) continue;
    const from = normalize(join(dirname(path), (statement.moduleSpecifier as ts.StringLiteral).text));
    const clause = statement.exportClause;
    if (clause === undefined) {
      const found = origin(files, from, name);
      if (found !== undefined) return found;
    } else if (ts.isNamedExports(clause) && clause.elements.some((it) => it.name.text === name)) {
      return origin(files, from, name);
    }
  }
  return undefined;
}

/** The TypeScript files below `folder`, with paths relative to `root`. */
export function readSources(root: string, folder: string): SourceText[] {
  const found: SourceText[] = [];
  for (const { name, isDirectory } of Deno.readDirSync(folder)) {
    const path = join(folder, name);
    if (isDirectory) found.push(...readSources(root, path));
    else if (name.endsWith(".ts")) found.push({ path: relative(root, path), text: Deno.readTextFileSync(path) });
  }
  return found;
}
