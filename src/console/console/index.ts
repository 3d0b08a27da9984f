export {
  ConsoleService,
  type ConsoleServiceOptions,
  type ReconcileRecords,
} from './console-service.ts';
export type { SourceFiles } from './definition-source.ts';
export { diagnosticViews } from './plan-views.ts';
export { answer, openStream } from './questions.ts';
export { ReconcileRecorder } from './reconcile-recorder.ts';
export { type RecordsClient, RemoteRecords } from './remote-records.ts';
