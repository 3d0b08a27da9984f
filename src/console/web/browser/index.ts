/** The parts that run in a browser, for other homes of the pages. Apart from the contract: these import preact. */

export { type AppOptions, type RunningApp, startApp } from '../app.ts';
export { AskingBackend, type StreamRequest, type Values } from '../backend/asking-backend.ts';
export { hrefOf } from '../route.ts';
export type {
  Applied,
  Example,
  FileCheck,
  Workbench,
  WorkbenchFile,
  WorkbenchState,
} from '../workbench/workbench.ts';
