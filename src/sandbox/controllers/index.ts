export { ControllerWorld } from './controller-world.ts';
export { GarbageCollector } from './garbage-collector.ts';
export { NamespaceController } from './namespace-controller.ts';
export { WorkloadControllers } from './workload-controllers.ts';
