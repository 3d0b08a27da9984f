export { Controller, type ControllerOptions } from './controller.ts';
export type { Priority, ReconcileContext, ReconcileResult, Reconciler } from './reconciler.ts';
