export const notifications = {
  title: 'While a page is open',
  label: 'Tell me when one of my tasks needs me or ends',
  about:
    'By this browser, while a tab of the console is open. Of several tabs only one tells; none does where the browser takes notices.',
  denied: 'This browser refuses notifications of this address. Its settings allow them again.',
  unsupported: 'This browser shows no notifications here.',
};
