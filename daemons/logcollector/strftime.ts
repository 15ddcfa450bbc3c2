const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
const DAY_MS = 86_400_000;

/** Text of each conversion for a local time, as in the C locale. */
const CONVERSIONS: ReadonlyMap<string, (date: Date) => string> = new Map(
  Object.entries<(date: Date) => string>({
    Y: (date) => String(date.getFullYear()),
    y: (date) => zeros(date.getFullYear() % 100),
    C: (date) => zeros(Math.floor(date.getFullYear() / 100)),
    m: (date) => zeros(date.getMonth() + 1),
    d: (date) => zeros(date.getDate()),
    e: (date) => String(date.getDate()).padStart(2, ' '),
    j: (date) => zeros(dayOfYear(date), 3),
    H: (date) => zeros(date.getHours()),
    I: (date) => zeros(date.getHours() % 12 || 12),
    M: (date) => zeros(date.getMinutes()),
    S: (date) => zeros(date.getSeconds()),
    p: (date) => (date.getHours() < 12 ? 'AM' : 'PM'),
    s: (date) => String(Math.floor(date.getTime() / 1000)),
    B: monthName,
    b: (date) => monthName(date).slice(0, 3),
    h: (date) => monthName(date).slice(0, 3),
    A: dayName,
    a: (date) => dayName(date).slice(0, 3),
    u: (date) => String(date.getDay() || 7),
    w: (date) => String(date.getDay()),
    F: (date) => strftime('%Y-%m-%d', date),
    T: (date) => strftime('%H:%M:%S', date),
    R: (date) => strftime('%H:%M', date),
    D: (date) => strftime('%m/%d/%y', date),
    z: zone,
    n: () => '\n',
    t: () => '\t',
    '%': () => '%',
  }),
);

/** Formats local time as strftime(3) does in the C locale; a conversion it does not know stays as it is written. */
export function strftime(format: string, date: Date): string {
  return format.replace(/%([a-zA-Z%])/g, (whole, conversion: string) => CONVERSIONS.get(conversion)?.(date) ?? whole);
}

function monthName(date: Date): string {
  return MONTHS[date.getMonth()] ?? '';
}

function dayName(date: Date): string {
  return DAYS[date.getDay()] ?? '';
}

function zeros(value: number, width = 2): string {
  return String(value).padStart(width, '0');
}

function dayOfYear(date: Date): number {
  const day = Date.UTC(date.getFullYear(), date.getMonth(), date.getDate());
  return (day - Date.UTC(date.getFullYear(), 0, 1)) / DAY_MS + 1;
}

function zone(date: Date): string {
  const minutes = -date.getTimezoneOffset();
  const size = Math.abs(minutes);
  return `${minutes < 0 ? '-' : '+'}${zeros(Math.floor(size / 60))}${zeros(size % 60)}`;
}
