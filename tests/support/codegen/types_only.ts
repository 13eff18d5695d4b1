import { assert, assertEquals } from "@std/assert";
import ts from "npm:typescript@^6.0.3";

/** Asserts that a text is TypeScript, and has nothing but imports, exports, interfaces and resources. */
export function assertTypesOnly(text: string): void {
  const { diagnostics = [] } = ts.transpileModule(text, { reportDiagnostics: true });
  assertEquals(diagnostics.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n")), [], text);
  for (const statement of ts.createSourceFile("a.ts", text, ts.ScriptTarget.ESNext).statements) {
    if (ts.isVariableStatement(statement)) {
      const [{ initializer }] = statement.declarationList.declarations;
      assert(initializer !== undefined && ts.isCallExpression(initializer), text);
      const values = (initializer.arguments[0] as ts.ObjectLiteralExpression).properties;
      const isText = (node: ts.Expression): boolean =>
        ts.isArrayLiteralExpression(node) ? node.elements.every(isText) : ts.isStringLiteral(node);
      assert(values.every((it) => ts.isPropertyAssignment(it) && isText(it.initializer)));
    } else {
      const { kind } = statement;
      const allowed = [
        ts.SyntaxKind.ImportDeclaration,
        ts.SyntaxKind.ExportDeclaration,
        ts.SyntaxKind.InterfaceDeclaration,
      ];
      assert(allowed.includes(kind), ts.SyntaxKind[kind]);
    }
  }
}
