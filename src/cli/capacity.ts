import { getHeapStatistics } from 'node:v8';
import { workedMs } from '../runtime/index.ts';
import { BytePool } from '../util/byte-pool.ts';
import { WorkTurns } from '../util/work-turns.ts';

/** The rest of the heap is for the cache, and for what is sent and received. */
const shareOfHeap = 1 / 4;

/** What all definitions of a process share: the one thread, and the memory that reconciles may hold together. */
export function createCapacity() {
  return {
    turns: new WorkTurns({ defer: (callback) => void setImmediate(callback), workedMs }),
    memory: new BytePool(getHeapStatistics().heap_size_limit * shareOfHeap),
  };
}
