export { VirtualTime } from './virtual-time.ts';
