export { Controller, type ControllerOptions, type ControllerSettings } from './controller.ts';
export type { Outcome, Priority, Reconciler, Turn } from './reconciler.ts';
export { WorkQueue, type WorkQueueOptions } from './work-queue.ts';
