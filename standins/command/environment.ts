import type { EnvDefinition } from "./definition.ts";
import { ValidationError } from "./validation_error.ts";
import type { ArgumentValue } from "./type.ts";

/**
 * The values of environment variables by key.
 *
 * Empty variables count as not set, and so do those that the program may not read.
 *
 * @param demand whether to fail when a required one is missing.
 */
export async function readEnvironment(
  envs: readonly EnvDefinition[],
  convert: (value: ArgumentValue) => unknown,
  demand: boolean,
): Promise<Record<string, unknown>> {
  const values: Record<string, unknown> = {};
  for (const env of envs) {
    const found = await findVariable(env.names);
    if (found === undefined) {
      if (!env.required || !demand) continue;
      throw new ValidationError(`Missing required environment variable "${env.names[0]}".`);
    }
    const one = (value: string): unknown =>
      convert({ label: "Environment variable", name: found.name, type: env.input.type, value });
    const value = env.input.list ? found.text.split(",").map(one) : one(found.text);
    values[env.property] = env.value === undefined ? value : env.value(value);
  }
  return values;
}

/** `NO_PROXY` as `noProxy`. */
export function environmentKey(name: string, prefix: string = ""): string {
  const bare = name.startsWith(prefix) ? name.slice(prefix.length) : name;
  return bare.toLowerCase().replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

async function findVariable(names: readonly string[]): Promise<{ name: string; text: string } | undefined> {
  for (const name of names) {
    const { state } = await Deno.permissions.query({ name: "env", variable: name });
    const text = state === "granted" ? Deno.env.get(name) : undefined;
    if (text) return { name, text };
  }
  return undefined;
}
