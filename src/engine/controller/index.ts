export { Controller, type ControllerOptions } from './controller.ts';
export type {
  Due,
  Outcome,
  Priority,
  ReconcileContext,
  ReconcileResult,
  Reconciler,
} from './reconciler.ts';
