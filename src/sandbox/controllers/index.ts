export { GarbageCollector } from './garbage-collector.ts';
export { NamespaceController } from './namespace-controller.ts';
