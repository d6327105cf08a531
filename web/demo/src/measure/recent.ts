// The last values of something measured.

export class Recent {
  private readonly values: number[] = [];

  constructor(private readonly most: number) {}

  add(value: number): void {
    this.values.push(value);
    if (this.values.length > this.most) this.values.shift();
  }

  clear(): void {
    this.values.length = 0;
  }

  get size(): number {
    return this.values.length;
  }

  get median(): number {
    return median(this.values);
  }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2;
}
