export { Controller, type ControllerOptions, type ControllerSettings } from './controller.ts';
export type { Priority, ReconcileContext, ReconcileResult, Reconciler } from './reconciler.ts';
export { WorkQueue, type WorkQueueOptions } from './work-queue.ts';
