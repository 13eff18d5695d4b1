/**
 * Kinds that you write in TypeScript: one schema gives the resource, its types, its CRD and its validation.
 *
 * {@linkcode defineKind} is the entry point. {@linkcode installCrds} brings definitions to a cluster, and
 * {@linkcode compareDefinitions} names what a change breaks. Rules in CEL load their library when the first one
 * arrives.
 *
 * @module
 */
export { migrateStorage, type MigrateStorageOptions } from "./migrate_storage.ts";
export type { StorageMigration, StorageMigrationProgress } from "./migrate_storage.ts";
export { BreakingChangeError, installCrds, type InstallCrdsOptions, type InstalledCrd } from "./install_crds.ts";
export { compareDefinitions, type DefinitionChange } from "./compare_definitions.ts";
export {
  type DefinedKind,
  type DefinedObject,
  defineKind,
  type KindColumn,
  type KindDefinition,
  type KindOf,
  type KindSchema,
} from "./define_kind.ts";
export type { EmbeddedObject, JsonSchema, SchemaChange, SchemaRule, SchemaType } from "./json_schema.ts";
export type { StandardJsonSchema, ValueOf } from "./json_schema.ts";
export { type ReadinessRule, readinessRules } from "./readiness_rules.ts";
export { SchemaError, type SchemaFault } from "./lower_schema.ts";
export type { ScalePaths } from "./values/validate.ts";
