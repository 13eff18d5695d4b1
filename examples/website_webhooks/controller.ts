// controller.ts: the module of the project, for the modules of this folder.
export * from "../website/controller.ts";
