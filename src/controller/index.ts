export type { Outcome, Priority, Reconciler } from './reconciler.ts';
