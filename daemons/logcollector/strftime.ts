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

/** Formats local time as strftime(3) does in the C locale; a conversion it does not know stays as it is written. */
export function strftime(format: string, date: Date): string {
  return format.replace(/%([a-zA-Z%])/g, (whole, conversion: string) => convert(conversion, date) ?? whole);
}

function convert(conversion: string, date: Date): string | undefined {
  switch (conversion) {
    case 'Y':
      return String(date.getFullYear());
    case 'y':
      return zeros(date.getFullYear() % 100);
    case 'C':
      return zeros(Math.floor(date.getFullYear() / 100));
    case 'm':
      return zeros(date.getMonth() + 1);
    case 'd':
      return zeros(date.getDate());
    case 'e':
      return String(date.getDate()).padStart(2, ' ');
    case 'j':
      return zeros(dayOfYear(date), 3);
    case 'H':
      return zeros(date.getHours());
    case 'I':
      return zeros(date.getHours() % 12 || 12);
    case 'M':
      return zeros(date.getMinutes());
    case 'S':
      return zeros(date.getSeconds());
    case 'p':
      return date.getHours() < 12 ? 'AM' : 'PM';
    case 's':
      return String(Math.floor(date.getTime() / 1000));
    case 'B':
      return MONTHS[date.getMonth()] ?? '';
    case 'b':
    case 'h':
      return (MONTHS[date.getMonth()] ?? '').slice(0, 3);
    case 'A':
      return DAYS[date.getDay()] ?? '';
    case 'a':
      return (DAYS[date.getDay()] ?? '').slice(0, 3);
    case 'u':
      return String(date.getDay() || 7);
    case 'w':
      return String(date.getDay());
    case 'F':
      return strftime('%Y-%m-%d', date);
    case 'T':
      return strftime('%H:%M:%S', date);
    case 'R':
      return strftime('%H:%M', date);
    case 'D':
      return strftime('%m/%d/%y', date);
    case 'z':
      return zone(date);
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case '%':
      return '%';
    default:
      return undefined;
  }
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
