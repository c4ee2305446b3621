export const chart = { day: 'Day', inAll: 'in all' };
