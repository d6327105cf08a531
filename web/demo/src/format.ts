// Numbers as people read them. English grouping everywhere, because the page is in English.

const integer = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

export const count = (value: number): string => integer.format(value);

export function milliseconds(ms: number): string {
  if (ms < 1) return `${ms.toFixed(2)} ms`;
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  if (ms < 1000) return `${ms.toFixed(0)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

/** A remaining time: whole seconds, because more digits would only flicker. */
export function remaining(ms: number): string {
  const seconds = Math.max(1, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s left`;
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s left`;
}

export function bytes(value: number): string {
  if (value < 1000) return `${count(value)} B`;
  if (value < 1_000_000) return `${(value / 1000).toFixed(1)} kB`;
  return `${(value / 1_000_000).toFixed(1)} MB`;
}

export function percent(fraction: number): string {
  if (fraction === 1) return '100 %';
  // Rounding must not claim a perfect recall that was not measured.
  return `${Math.min(99.9, fraction * 100).toFixed(1)} %`;
}

export const times = (factor: number): string =>
  factor < 10 ? `${factor.toFixed(1)}×` : `${count(factor)}×`;
