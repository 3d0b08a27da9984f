export { ControllerClient } from './controller-client.ts';
export { GarbageCollector } from './garbage-collector.ts';
export { NamespaceController } from './namespace-controller.ts';
export type { PodOutcome } from './pod-simulator.ts';
export { WorkloadControllers } from './workload-controllers.ts';
