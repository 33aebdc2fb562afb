// On the page that refuses a link from another site: requests the board.
//
// The browser sends the cookie with this request, because it comes from this site. The query is
// needed: with an unchanged address, the browser would only scroll to the fragment.

if (!window.location.search) window.location.replace(`/?link${window.location.hash}`);
